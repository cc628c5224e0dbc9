import type { Noun } from '../noun';
import { findInList, resolveRef } from './ref-resolver';

const things: Noun = { name: 'ssh-key', plural: 'ssh-keys', path: '/ssh-keys', inProject: true };
const [one, two, three] = [
  '0198b0f4-1111-7000-8000-000000000001',
  '0198b0f4-1112-7000-8000-000000000002',
  'beef0000-1111-7000-8000-000000000003',
] as const;
const items = [
  { id: one, name: 'laptop' },
  { id: two, name: 'beef' },
  { id: three, name: '..' },
];
const asked: unknown[] = [];
const context = {
  project: () => 'web',
  listAt: async <T>(path: string, query?: object) => {
    asked.push([path, query]);
    return items as T[];
  },
};

describe('a reference', () => {
  beforeEach(() => (asked.length = 0));

  it('stays as it is when it is a name or a whole id, and costs nothing', async () => {
    for (const ref of ['laptop', 'abc', 'web-1', 'a/b', '%2f', 'Ünï', '0198z0f4'])
      expect(await resolveRef(context, things, ref)).toBe(ref);
    expect(await resolveRef(context, things, one.toUpperCase())).toBe(one);
    expect(asked).toEqual([]);
  });

  it('is the beginning of an id, in the project that is worked in', async () => {
    expect(await resolveRef(context, things, '0198b0f4-1112')).toBe(two);
    expect(await resolveRef(context, things, 'BEEF0')).toBe(three);
    expect(asked[0]).toEqual(['/ssh-keys', { project: 'web', q: '0198b0f4-1112' }]);
  });

  it('is the name that looks like the beginning of an id, when there is one', async () => {
    expect(await resolveRef(context, things, 'beef')).toBe('beef');
    expect(await resolveRef(context, things, 'dead')).toBe('dead');
  });

  it('is not guessed', async () => {
    await expect(resolveRef(context, things, '0198b0f4')).rejects.toMatchObject({
      exitCode: 2,
      code: 'ambiguous_reference',
      message: `Several ssh keys have ids that begin with 0198b0f4: ${one} (laptop), ${two} (beef).`,
    });
    await expect(resolveRef(context, things, '')).rejects.toMatchObject({ exitCode: 2 });
  });

  it('that no path can carry becomes the id', async () => {
    expect(await resolveRef(context, things, '..')).toBe(three);
    await expect(resolveRef(context, things, '.')).rejects.toMatchObject({
      exitCode: 4,
      message: 'There is no ssh key ".".',
    });
  });

  it('of something without a name is an id or its beginning', async () => {
    const task: Noun = { name: 'task', plural: 'tasks', path: '/tasks', inProject: false, nameless: true };
    expect(await resolveRef(context, task, 'beef')).toBe(three);
    await expect(resolveRef(context, task, 'dead')).rejects.toMatchObject({ exitCode: 4 });
    await expect(resolveRef(context, task, 'web')).rejects.toMatchObject({
      exitCode: 2,
      message: '"web" is not the id of a task, nor its beginning',
    });
  });

  it('is found in the list where there is no page of one', async () => {
    expect(await findInList(context, things, 'laptop')).toEqual(items[0]);
    expect(await findInList(context, things, '0198b0f4-1112')).toEqual(items[1]);
    await expect(findInList(context, things, 'none')).rejects.toMatchObject({ exitCode: 4 });
  });
});
