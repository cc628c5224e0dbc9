import { inUse } from './in-use';

it('names the first ten users with their paths, says how many there are, and which task is at work', () => {
  const users = Array.from({ length: 12 }, (_, i) => ({
    kind: 'instance',
    id: `id-${i}`,
    name: `web-${i}`,
    taskId: i === 3 ? 'task-1' : null,
  }));
  const problem = inUse('network_in_use', 'The network "n"', users, 25);
  expect(problem).toMatchObject({ status: 409, code: 'network_in_use', extra: { count: 25, task: 'task-1' } });
  expect(problem.extra['users']).toHaveLength(10);
  expect((problem.extra['users'] as unknown[])[3]).toEqual({
    kind: 'instance',
    id: 'id-3',
    name: 'web-3',
    href: '/api/v1/instances/id-3',
    taskId: 'task-1',
  });
  expect(problem.detail).toMatch(
    /^The network "n" is used by instance "web-0", .*instance "web-9" and 15 more\. Delete these first; the task task-1 is at work there\.$/,
  );
});

it('says how many there are when the caller sees none of them', () => {
  expect(inUse('image_in_use', 'The image "i"', [], 3).detail).toBe(
    'The image "i" is used by 3 objects of other projects. Delete these first.',
  );
});
