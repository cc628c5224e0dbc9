import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import type { z } from 'zod';
import { loadConfig } from '../../../src/core/config/config-loader';

const root = resolve(__dirname, '../../..');

/** Sections of all module manifests, found by file name, so that a new module cannot be forgotten in default.yaml. */
const moduleSchemas = async (): Promise<Record<string, z.ZodType>> => {
  const schemas: Record<string, z.ZodType> = {};
  const folders = readdirSync(join(root, 'src/modules'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  for (const { name } of folders) {
    const file = readdirSync(join(root, 'src/modules', name)).find((f) => f.endsWith('.module.ts'));
    if (!file) continue;
    const loaded = (await import(join(root, 'src/modules', name, file))) as Record<
      string,
      { name?: string; config?: () => Promise<z.ZodType> } | undefined
    >;
    for (const manifest of Object.values(loaded))
      if (manifest?.name && manifest.config) schemas[manifest.name] = await manifest.config();
  }
  return schemas;
};

it('config/default.yaml holds every key, and each is the default', async () => {
  const modules = await moduleSchemas();
  const file = join(root, 'config/default.yaml');
  const config = await loadConfig({ files: [file], modules });
  const defaults = await loadConfig({ modules });
  expect(config).toEqual(defaults);
  const written = parse(readFileSync(file, 'utf8')) as object;
  expect(written).toEqual(
    Object.keys(modules).length > 0 ? { ...defaults.core, modules: defaults.sections() } : defaults.core,
  );
});
