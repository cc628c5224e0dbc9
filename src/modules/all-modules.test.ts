import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { hintsOf, permissionsOf, scenariosOf } from '../core/app/declarations';
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

  it('tells tenants no failure of a host in the words of a program or of the system', () => {
    const messages = sources
      .filter(({ file }) => /^src\/modules\/[^/]+\/node\//.test(file))
      .flatMap(({ file, text }) =>
        [...text.matchAll(/VerbFailure\(\s*(?:'[^']*'|[^,()]+),\s*(`[^`]*`|'[^']*'|[^,]+)/g)].map(
          ([, message = '']) => ({ file, message }),
        ),
      );
    expect(messages.length).toBeGreaterThan(40);
    expect(messages.filter(({ message }) => /stderr|stdout|\.message\b|String\(/.test(message))).toEqual([]);
  });
});

/** What the sources of a module have of a pattern, tests left out. */
const inModule = (name: string, pattern: RegExp): string[] => [
  ...new Set(
    sources
      .filter(({ file }) => file.startsWith(`src/modules/${name}/`))
      .flatMap(({ text }) => [...text.matchAll(pattern)].map((match) => match[1] ?? '')),
  ),
];

it.each(allModules.map((m) => [m.name, m] as const))('declares what %s writes of hosts and publishes', (name, m) => {
  const conditions = inModule(name, /\btype: '([A-Z][A-Za-z]+)',\s*status\b/g);
  expect(conditions.sort()).toEqual(Object.keys(m.hostConditions ?? {}).sort());
  // Those that are put together from a noun and a verb are known by their noun.
  const published = inModule(name, /['`]([a-z-]+\.(?:created['`]|updated['`]|deleted['`]|\$\{(?:what|verb)))/g);
  for (const event of published)
    expect(m.events ?? []).toContainEqual(
      expect.stringMatching(event.includes('$') ? `^${event.split('$')[0] ?? ''}` : `^${event.slice(0, -1)}$`),
    );
});

it('has a scenario for every workflow, and none for another', async () => {
  const types = sources.flatMap(({ file, text }) =>
    file.startsWith('src/modules/')
      ? [...text.matchAll(/defineWorkflow(?:<[^>]*>)?\(\s*'([^']+)'/g)].map((match) => match[1] ?? '')
      : [],
  );
  expect(types).toContain('instance.create');
  expect(Object.keys(await scenariosOf(allModules)).sort()).toEqual([...new Set(types)].sort());
});

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^ *\/\/.*$/gm, '');

/** Words that core has for things of its own: who calls, what runs, where, and the TCP/IP of it. */
const wordsOfCore = [
  'task',
  'host',
  'project',
  'user',
  'session',
  'member',
  'api-token',
  'port',
  'network',
  'identity',
];

it('leaves core without a noun or a problem code of a module', () => {
  const nouns = new Set([
    ...Object.keys(permissionsOf(allModules)).map((permission) => permission.split(':')[0] ?? ''),
    ...allModules.map(({ name }) => name),
  ]);
  for (const word of wordsOfCore) nouns.delete(word);
  const codes = new Set(allModules.flatMap(({ problems }) => Object.keys(problems ?? {})));
  // A permission, an event or verb, a path: as programs use nouns. Prose for people may give examples.
  const used = new RegExp(`^(?:(?:${[...nouns].join('|')})[:.][a-z*]|/(?:${[...nouns].join('|')})s?(?:/|$))`);
  const found = sources
    .filter(({ file }) => file.startsWith('src/core/'))
    .flatMap(({ file, text }) =>
      [...withoutComments(text).matchAll(/(['"`])((?:(?!\1)[^\\\n]|\\.)*)\1|^ +([a-z_]+): /gm)]
        .map((match) => match[2] ?? match[3] ?? '')
        .filter((word) => used.test(word) || codes.has(word))
        .map((word) => `${file}: ${word}`),
    );
  expect(nouns.size).toBeGreaterThan(6);
  expect(found).toEqual([]);
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
