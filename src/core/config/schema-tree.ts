import { z } from 'zod';
import { coreConfigSchema } from './core-config';

/** Schemas of the modules' sections, by module name. */
export type ModuleSchemas = Readonly<Record<string, z.ZodType>>;

/** How a value is masked: `true` wholly, `url` only its password. Set by `.meta({ secret })`. */
type SecretKind = true | 'url';

export interface SchemaNode {
  /** The schema without defaults, optionality and the like. */
  inner: z.ZodType;
  secret: SecretKind | undefined;
}

/** The whole configuration's schema: core's sections, and each module's under `modules.<name>`. */
export const configSchema = (modules: ModuleSchemas) =>
  z.strictObject({
    ...coreConfigSchema.shape,
    modules: z
      .strictObject(Object.fromEntries(Object.entries(modules).map(([name, schema]) => [name, schema.prefault({})])))
      .prefault({}),
  });

/** Looks through wrappers to what a value really is, and whether it is a secret. */
export const unwrap = (schema: z.ZodType): SchemaNode => {
  let inner: unknown = schema;
  let secret: SecretKind | undefined;
  for (;;) {
    const meta = inner instanceof z.ZodType ? inner.meta() : undefined;
    if (meta?.['secret'] === true || meta?.['secret'] === 'url') secret ??= meta['secret'];
    if (
      inner instanceof z.ZodDefault ||
      inner instanceof z.ZodPrefault ||
      inner instanceof z.ZodOptional ||
      inner instanceof z.ZodNullable ||
      inner instanceof z.ZodReadonly
    )
      inner = inner.unwrap();
    else if (inner instanceof z.ZodPipe) inner = inner.in;
    else return { inner: inner as z.ZodType, secret };
  }
};

/** The keys of an object schema; undefined for anything else. */
export const shapeOf = (schema: z.ZodType): Readonly<Record<string, z.ZodType>> | undefined => {
  const { inner } = unwrap(schema);
  return inner instanceof z.ZodObject ? (inner.shape as Record<string, z.ZodType>) : undefined;
};

/** `nodePort` and `node-port` as environment variables spell them: `NODE_PORT`. */
export const upperSnake = (key: string): string =>
  key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/-/g, '_')
    .toUpperCase();
