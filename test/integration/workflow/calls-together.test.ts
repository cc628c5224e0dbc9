import { z } from 'zod';
import { NodeUnreachableError, NodeVerbError } from '../../../src/core/m2m/management/node-caller';
import type { Op } from '../../../src/core/db/rows/op';
import { defineWorkflow } from '../../../src/core/workflow/definition/definition';
import { PermanentError } from '../../../src/core/workflow/definition/workflow-error';
import type { FakeNodes } from '../../support/fake-nodes';
import type { TestDatabase } from '../../support/postgres';
import {
  dropThing,
  hostA,
  ledger,
  makeThing,
  startOptions,
  stepRows,
  subject,
  taskRow,
} from '../../support/workflow-harness';
import { waitFor } from '../../support/wait-for';
import { engineSuite } from './engine-suite';

jest.setTimeout(60_000);

const hostB = '22222222-2222-4222-8222-222222222222';

describe('calls that leave together', () => {
  const suite = engineSuite();
  const { run } = suite;
  let db: TestDatabase;
  let nodes: FakeNodes;
  beforeEach(() => {
    ({ db, nodes } = suite.started());
  });

  interface Shape {
    hosts?: { one?: string; two?: string; three?: string };
    fails?: boolean;
    version?: number;
    wanted?: boolean;
    commitAtOnce?: boolean;
    args?: (taskId: string, op: Op) => Promise<void>;
    lock?: string;
  }

  /** Three calls between two steps of the database, each with an undo; their arguments need the first step only. */
  const three = (shape: Shape = {}) => {
    const { hosts = {}, fails = false, version = 1, wanted = true, commitAtOnce = false } = shape;
    const { one = hostA, two = hostA, three: last = hostA } = hosts;
    const step = (name: string, host: string) => ({
      verb: makeThing,
      node: () => host,
      args: () => ({ name }),
      retry: { backoff: '10ms' as const },
      undo: { verb: dropThing, node: () => host, args: () => ({ name }) },
    });
    return defineWorkflow('test.together', {
      version,
      ...(version > 1 && { continues: [1] }),
      input: z.object({}),
      deadline: '20s',
      lock: () => shape.lock ?? 'together',
    })
      .tx('begin', { run: async () => 'x', commitAtOnce, noUndo: 'nothing' })
      .remote('one', {
        ...step('one', one),
        args: async (c) => {
          await shape.args?.(c.taskId, c.op);
          return { name: 'one' };
        },
      })
      .remote('two', { ...step('two', two), when: () => wanted }, { together: true })
      .remote('three', step('three', last), { together: true })
      .tx('end', {
        run: async (c) => {
          if (fails) throw new PermanentError('told_to', 'Told to.');
          return [c.out.one, c.out.two, c.out.three].map((made) => made?.made);
        },
        noUndo: 'nothing',
      });
  };
  const start = async (definition: ReturnType<typeof three>) => {
    const e = await run([definition]);
    const { id } = await db.database.tx((op) => e.start(op, definition, {}, { ...startOptions, subject: subject() }));
    return { e, id };
  };
  const keys = (id: string): string[] => nodes.calls.map(({ key }) => key.replace(`${id}/`, ''));
  const requests = (id: string): string[][] => nodes.requests.map((all) => all.map((key) => key.replace(`${id}/`, '')));

  it('are one request, begun with one commit, and each has its own checkpoint', async () => {
    const { e, id } = await start(three());
    expect(await e.settled(id, 5_000)).toBe('succeeded');
    expect(requests(id)).toEqual([['one/run', 'two/run', 'three/run']]);
    expect(await stepRows(db.database, id)).toMatchObject([
      { name: 'begin', state: 'succeeded' },
      { name: 'one', state: 'succeeded', attempt: 1, output: { made: 'one' } },
      { name: 'two', state: 'succeeded', attempt: 1, output: { made: 'two' } },
      { name: 'three', state: 'succeeded', attempt: 1, output: { made: 'three' } },
      { name: 'end', state: 'succeeded', output: ['one', 'two', 'three'] },
    ]);
    const xids = await db.database.query<{ xmin: string }>(
      `SELECT DISTINCT xmin::text FROM task_step WHERE task_id = $1 AND name IN ('one', 'two', 'three', 'end')`,
      [id],
    );
    expect(xids).toHaveLength(1);
  });

  it.each([
    ['another host', { hosts: { two: hostB } }, [], ['one/run', 'two/run', 'three/run']],
    [
      'another host after two',
      { hosts: { three: hostB } },
      [['one/run', 'two/run']],
      ['one/run', 'two/run', 'three/run'],
    ],
    ['a step that is skipped', { wanted: false }, [], ['one/run', 'three/run']],
  ])('are parted by %s', async (_what, shape, together, all) => {
    const { e, id } = await start(three(shape));
    expect(await e.settled(id, 5_000)).toBe('succeeded');
    expect(requests(id)).toEqual(together);
    expect(keys(id)).toEqual(all);
  });

  it('go one by one to a host that takes one at a time', async () => {
    nodes.inTurn = false;
    const { e, id } = await start(three());
    expect(await e.settled(id, 5_000)).toBe('succeeded');
    expect(requests(id)).toEqual([]);
    expect(keys(id)).toEqual(['one/run', 'two/run', 'three/run']);
  });

  it('go one by one for a task of the version before: a process that knows only that may take it over', async () => {
    const definition = three({ version: 2 });
    const e = await run([definition]);
    const id = await db.database.tx(async (op) => {
      const task = await e.start(op, definition, {}, { ...startOptions, subject: subject() });
      await op.query('UPDATE task SET version = 1 WHERE id = $1', [task.id]);
      return task.id;
    });
    expect(await e.settled(id, 5_000)).toBe('succeeded');
    expect(requests(id)).toEqual([]);
  });

  it('wait for one that takes long, and leave together after it as if for the first time', async () => {
    nodes.on('thing.make', ({ args, key }) => {
      const { name } = args as { name: string };
      if (name !== 'one') return { done: true, result: { made: name } };
      setTimeout(() => nodes.outcomes.set(key, { made: 'one' }), 300);
      return { done: false };
    });
    const { e, id } = await start(three());
    await waitFor('the first to be accepted', async () => nodes.calls.length === 1 && nodes.polls.length === 0);
    await waitFor('what is stored of it', async () => (await stepRows(db.database, id)).length === 2);
    expect(await stepRows(db.database, id)).toMatchObject([
      { name: 'begin' },
      { name: 'one', state: 'running', attempt: 1 },
    ]);
    expect(await e.settled(id, 10_000)).toBe('succeeded');
    expect(requests(id)).toEqual([
      ['one/run', 'two/run', 'three/run'],
      ['two/run', 'three/run'],
    ]);
    expect((await stepRows(db.database, id)).map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1, 1]);
  });

  it('go on from one in their midst that takes long', async () => {
    nodes.on('thing.make', ({ args, key }) => {
      const { name } = args as { name: string };
      if (name !== 'two') return { done: true, result: { made: name } };
      setTimeout(() => nodes.outcomes.set(key, { made: 'two' }), 200);
      return { done: false };
    });
    const { e, id } = await start(three());
    expect(await e.settled(id, 10_000)).toBe('succeeded');
    expect(keys(id)).toEqual(['one/run', 'two/run', 'three/run']);
    expect((await stepRows(db.database, id)).map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1, 1]);
  });

  it('undo what was begun when one fails for good, and nothing that was not', async () => {
    nodes.on('thing.make', ({ args }) => {
      const { name } = args as { name: string };
      if (name === 'two') throw new NodeVerbError(hostA, 'thing.make', 'full', 'There is no room.', true);
      return { done: true, result: { made: name } };
    });
    const { e, id } = await start(three());
    expect(await e.settled(id, 5_000)).toBe('failed');
    expect(keys(id)).toEqual(['one/run', 'two/run', 'two/undo', 'one/undo']);
    expect(await stepRows(db.database, id)).toMatchObject([
      { name: 'begin', state: 'succeeded' },
      { name: 'one', phase: 'run', state: 'succeeded' },
      { name: 'one', phase: 'undo', state: 'succeeded' },
      { name: 'two', phase: 'run', state: 'failed', attempt: 1, error: { code: 'full', step: 'two' } },
      { name: 'two', phase: 'undo', state: 'succeeded' },
    ]);
  });

  it('repeat the one that fails for a while, under its key, and not those before it', async () => {
    let left = 2;
    nodes.on('thing.make', ({ args }) => {
      const { name } = args as { name: string };
      if (name === 'two' && left-- > 0) throw new NodeVerbError(hostA, 'thing.make', 'busy', 'Busy.', false);
      return { done: true, result: { made: name } };
    });
    const { e, id } = await start(three());
    expect(await e.settled(id, 5_000)).toBe('succeeded');
    expect(keys(id)).toEqual(['one/run', 'two/run', 'two/run', 'two/run', 'three/run']);
  });

  it('are all undone when nobody knows how far they came', async () => {
    nodes.on('thing.make', () => {
      throw new NodeUnreachableError(hostA, 'no answer');
    });
    const lost = jest.spyOn(nodes, 'callInTurn').mockImplementation(async () => {
      throw new NodeUnreachableError(hostA, 'no answer');
    });
    const { e, id } = await start(three());
    await waitFor('the request to be lost', () => lost.mock.calls.length === 1);
    expect(await db.database.tx((op) => e.cancel(op, id, 'me'))).toBe('asked');
    expect(await e.settled(id, 10_000)).toBe('cancelled');
    expect(keys(id).filter((key) => key.endsWith('undo'))).toEqual(['three/undo', 'two/undo', 'one/undo']);
  });

  it('are undone from the last one on when a step after them fails', async () => {
    const { e, id } = await start(three({ fails: true }));
    expect(await e.settled(id, 5_000)).toBe('failed');
    expect(keys(id)).toEqual(['one/run', 'two/run', 'three/run', 'three/undo', 'two/undo', 'one/undo']);
  });

  it.each([
    ['share the commit of the step before them', false, []],
    ['do not, when others wait for what that one locks', true, ['begin']],
  ])('%s', async (_what, commitAtOnce, stored) => {
    const seen: string[] = [];
    const definition = three({
      commitAtOnce,
      // On another connection: what has committed when the first call's arguments are computed.
      args: async (taskId) => void seen.push(...(await stepRows(db.database, taskId)).map(({ name }) => name)),
    });
    const { e, id } = await start(definition);
    expect(await e.settled(id, 5_000)).toBe('succeeded');
    expect(seen).toEqual(stored);
  });

  it('leave nothing of what their arguments wrote where they find no slot', async () => {
    nodes.on('thing.make', ({ args }) =>
      nodes.calls.length === 1 ? { done: false } : { done: true, result: { made: (args as { name: string }).name } },
    );
    let lock = '';
    const definition = three({
      args: (taskId, op) => ledger.add(db.database, op, taskId, 'written'),
      get lock() {
        return lock;
      },
    });
    const e = await run([definition], { hostConcurrency: 1 });
    const begin = async (name: string): Promise<string> => {
      lock = name;
      return (await db.database.tx((op) => e.start(op, definition, {}, { ...startOptions, subject: subject() }))).id;
    };
    const first = await begin('first');
    await waitFor('it to be accepted', async () => (await taskRow(db.database, first)).owner === null);
    const second = await begin('second');
    await waitFor('it to wait for a slot', async () => (await taskRow(db.database, second)).waiting_for !== null);
    expect(await stepRows(db.database, second)).toMatchObject([{ name: 'begin', state: 'succeeded' }]);
    expect(await ledger.of(db.database, second)).toEqual([]);
    nodes.outcomes.set(`${first}/one/run`, { made: 'one' });
    for (const id of [first, second]) expect(await e.settled(id, 10_000)).toBe('succeeded');
    expect(await ledger.of(db.database, second)).toEqual(['written']);
  });

  it('have a call before them that they can leave with', async () => {
    const step = { verb: makeThing, node: () => hostA, args: () => ({ name: 'x' }), noUndo: 'nothing' };
    const alone = defineWorkflow('test.alone', { version: 1, input: z.object({}), deadline: '1s' })
      .tx('begin', { run: async () => 'x', noUndo: 'nothing' })
      .remote('one', step, { together: true });
    await expect(run([alone])).rejects.toThrow('workflow test.alone@1: step "one": there is no call before it');
  });
});
