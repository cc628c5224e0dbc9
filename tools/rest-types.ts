/** Writes the types of the REST API, of which every client of ours is made, from the OpenAPI document of the sources. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bannerOf, restDocument } from './rest-document';

const root = join(__dirname, '..');
const target = join(root, 'src/rest/rest-paths.ts');

/** What a client is typed by: success answers, under the names of their schemas. Refusals are problems on every path. */
const forClients = (document: Awaited<ReturnType<typeof restDocument>>): object => {
  const copy = structuredClone(document);
  for (const path of Object.values(copy.paths ?? {}))
    for (const operation of Object.values(path) as {
      operationId?: string;
      description?: string;
      responses: Record<string, unknown>;
    }[]) {
      delete operation.operationId;
      delete operation.description;
      for (const status of Object.keys(operation.responses))
        if (!status.startsWith('2')) delete operation.responses[status];
    }
  return copy;
};

const main = async (): Promise<void> => {
  const document = await restDocument();
  const { default: openapiTs, astToString } = await import('openapi-typescript');
  const nodes = await openapiTs(forClients(document) as Parameters<typeof openapiTs>[0], {
    alphabetize: true,
    // In a body a member with a default may be left out.
    defaultNonNullable: false,
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
  });
  const types = execFileSync('npx', ['biome', 'format', '--stdin-file-path=rest-paths.ts'], {
    cwd: root,
    input: astToString(nodes),
    encoding: 'utf8',
  });
  writeFileSync(target, `${bannerOf(document, types)}\n${types}`);
};

void main();
