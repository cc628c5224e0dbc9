import { stringify } from 'yaml';
import type { z } from 'zod';
import type { Config } from './config';
import { configSchema, shapeOf, unwrap, type ModuleSchemas } from './schema-tree';

const mask = '***';

const maskUrl = (url: string): string =>
  url
    .replace(/^([a-z0-9+.-]+:\/\/[^:@/]*:)(.*)@/i, `$1${mask}@`)
    .replace(/([?&](?:password|pass|secret)=)[^&#]*/gi, `$1${mask}`);

const masked = (value: unknown, schema: z.ZodType): unknown => {
  const { secret } = unwrap(schema);
  if (secret && value !== '' && value !== undefined && value !== null)
    return secret === 'url' && typeof value === 'string' ? maskUrl(value) : mask;
  const shape = shapeOf(schema);
  if (!shape || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, shape[key] ? masked(child, shape[key]) : child]),
  );
};

/** The configuration in force as YAML, secrets masked. `modules` are the schemas that it was loaded with. */
export const effectiveConfig = (config: Config, modules: ModuleSchemas = {}): string =>
  stringify(masked({ ...config.core, modules: config.sections() }, configSchema(modules)));
