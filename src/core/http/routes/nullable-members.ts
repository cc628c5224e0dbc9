/** A JSON Schema, or a part of one, as far as it is looked at here. */
type Schema = Record<string, unknown>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const takesNull = (schema: Schema): boolean =>
  schema['type'] === 'null' ||
  (Array.isArray(schema['type']) && schema['type'].includes('null')) ||
  ['anyOf', 'oneOf'].some(
    (key) => Array.isArray(schema[key]) && schema[key].some((branch) => isSchema(branch) && takesNull(branch)),
  );

const orNull = (schema: Schema): Schema => {
  if (takesNull(schema)) return schema;
  const { description, ...rest } = schema;
  return { ...(description !== undefined && { description }), anyOf: [rest, { type: 'null' }] };
};

/**
 * The schema of a body, with null allowed for every member that may be absent: that is what `parsePart` takes it for.
 */
export const nullableMembers = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(nullableMembers);
  if (!isSchema(schema)) return schema;
  const { properties, required, ...rest } = schema;
  const others = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [
      key,
      key === 'default' || key === 'example' || key === 'enum' || key === 'const' ? value : nullableMembers(value),
    ]),
  );
  if (!isSchema(properties))
    return { ...others, ...(properties !== undefined && { properties }), ...(required !== undefined && { required }) };
  const needed = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(properties).map(([name, member]) => {
    const inner = nullableMembers(member);
    return [name, needed.has(name) || !isSchema(inner) ? inner : orNull(inner)];
  });
  return { ...others, properties: Object.fromEntries(members) as Schema, ...(required !== undefined && { required }) };
};
