import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import { bannerOf, restDocument } from '../../tools/rest-document';

it('the types of the REST clients are those of the present OpenAPI document: else run npm run rest-types', async () => {
  const text = readFileSync(join(__dirname, '../rest/rest-paths.ts'), 'utf8');
  const end = text.indexOf('\n');
  expect(text.slice(0, end)).toBe(bannerOf(await restDocument(), text.slice(end + 1)));
});

it('no named schema of the document can be null: the generator would make it so everywhere', async () => {
  const { components } = await restDocument();
  const nullable = Object.entries(components?.schemas ?? {}).filter(
    ([, schema]) => 'type' in schema && Array.isArray(schema.type) && schema.type.includes('null'),
  );
  expect(nullable.map(([name]) => name)).toEqual([]);
});

it('every default of the document fits its own schema, and every text in a path, query or header has a bound', async () => {
  const document = await restDocument();
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'document');
  const wrong: string[] = [];
  let defaults = 0;
  let texts = 0;
  const walk = (value: unknown, at: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const { default: given, ...schema } = value as Record<string, unknown>;
    if (given !== undefined && 'type' in schema) {
      defaults += 1;
      const whole = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object;
      if (!ajv.validate(whole, given)) wrong.push(`${at}: ${JSON.stringify(given)}`);
    }
    if ('in' in value && 'schema' in value) {
      const { type, ...bounds } = value.schema as Record<string, unknown>;
      if (type === 'string') {
        texts += 1;
        if (!['maxLength', 'pattern', 'format', 'enum', 'const'].some((bound) => bound in bounds))
          wrong.push(`${at}: no bound`);
      }
    }
    for (const [name, member] of Object.entries(value)) walk(member, `${at}/${name}`);
  };
  walk(document, '');
  expect(wrong).toEqual([]);
  expect([defaults > 50, texts > 100]).toEqual([true, true]);
});
