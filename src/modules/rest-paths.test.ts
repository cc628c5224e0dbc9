import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
