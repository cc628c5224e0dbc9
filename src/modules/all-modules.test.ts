import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { hintsOf, scenariosOf } from '../core/app/declarations';
import { sortModules } from '../core/app/module-registry';
import { allModules } from './all-modules';

const root = join(__dirname, '../..');
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !/\.(test|suite)\.ts$/.test(file))
  .map((file) => ({
    file: relative(root, join(root, 'src', file)),
    text: readFileSync(join(root, 'src', file), 'utf8'),
  }));

describe('what modules declare', () => {
  it('has every failure that a task can end with', () => {
    const declared = hintsOf(allModules);
    const thrown = sources.flatMap(({ file, text }) =>
      [
        ...text.matchAll(/(?:VerbFailure|PermanentError|FetchFailed|ImageRefused)\(\s*'([a-z_]+)'/g),
        // Tables of what programs say, in the drivers.
        ...(/^src\/modules\/[^/]+\/node\//.test(file) ? text.matchAll(/\bcode: '([a-z_]+)'/g) : []),
      ].map((match) => ({ file, code: match[1] ?? '' })),
    );
    expect(thrown.length).toBeGreaterThan(60);
    expect(thrown.filter(({ code }) => !Object.hasOwn(declared, code))).toEqual([]);
  });
});

it('has a scenario for every workflow, and none for another', async () => {
  const types = sources.flatMap(({ file, text }) =>
    file.startsWith('src/modules/')
      ? [...text.matchAll(/defineWorkflow(?:<[^>]*>)?\(\s*'([^']+)'/g)].map((match) => match[1] ?? '')
      : [],
  );
  expect(types).toContain('compute.create-instance');
  expect(Object.keys(await scenariosOf(allModules)).sort()).toEqual([...new Set(types)].sort());
});

/** Modules whose contract each module imports, tests left out. */
const contractsOf = (name: string): string[] => {
  const folder = `src/modules/${name}/`;
  const found = sources
    .filter(({ file }) => file.startsWith(folder))
    .flatMap(({ text }) => [...text.matchAll(/(?:from|import\()\s*'(?:\.\.\/)+([a-z-]+)\/contract\//g)])
    .map((match) => match[1] ?? '');
  return [...new Set(found)].filter((other) => other !== name).sort();
};

describe('what a module needs', () => {
  it.each(allModules.map((m) => [m.name, m] as const))('of %s: the contracts that it imports', (name, { needs }) => {
    expect([...needs].sort()).toEqual(contractsOf(name));
  });

  it('is there, without a circle, and in the order of the list where the list may choose', () => {
    expect(sortModules(allModules).map((m) => m.name)).toEqual([
      'identity',
      'host',
      'task',
      'scheduler',
      'image',
      'storage',
      'network',
      'compute',
    ]);
  });
});
