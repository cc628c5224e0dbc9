import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { defineWorkflow, type WorkflowDefinition } from '../../../src/core/workflow/definition/definition';
import type { TestEngine } from '../../support/test-engine';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';
import { hostA, dropThing, makeThing, newEngine, startOptions, subject, taskRow } from '../../support/workflow-harness';
import { FakeNodes } from '../../support/fake-nodes';

const input = z.object({ n: z.string() });
const hostB = '22222222-2222-4222-8222-222222222222';

jest.setTimeout(180_000);

describe('whose turn it is', () => {
  let db: TestDatabase;
  let nodes: FakeNodes;
  const engines: TestEngine[] = [];
  const ran: string[] = [];

  beforeAll(async () => {
    db = await startTestDatabase({ pool: 40 });
  });
  afterAll(() => db.close());
  beforeEach(() => {
    nodes = new FakeNodes();
    ran.splice(0);
  });
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.stop();
    await db.database.query('TRUNCATE task, task_step, task_slot, task_lock');
  });

  const engine = (definitions: Parameters<typeof newEngine>[1], settings = {}): TestEngine => {
    const one = newEngine(db.database, definitions, { nodes, settings });
    engines.push(one);
    return one;
  };
  const noted = (type: string, priority: 'urgent' | 'normal' | 'background' = 'normal') =>
    defineWorkflow(type, { version: 1, input, deadline: '10m', priority }).tx('note', {
      run: async (c) => void ran.push(c.input.n),
      noUndo: 'a note',
    });
  type Definition = WorkflowDefinition<{ n: string }, never>;
  const start = async (
    one: TestEngine,
    definition: Definition,
    n: string,
    projectId: string | null = null,
  ): Promise<string> =>
    (await db.database.tx((op) => one.start(op, definition, { n }, { ...startOptions, projectId, subject: subject() })))
      .id;

  it('goes round between projects: ten thousand tasks of one do not hold up those of another', async () => {
    const definition = noted('test.noted');
    const one = engine([definition], { concurrency: 2 });
    const [crowd, lone] = [randomUUID(), randomUUID()];
    await start(one, definition, 'crowd', crowd);
    await db.database.query(
      `INSERT INTO task (id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, wake_at, deadline_ms, created_by)
       SELECT gen_random_uuid(), type, version, project_id, subject_kind, subject_id, subject_name, state, input, wake_at, deadline_ms, created_by FROM task CROSS JOIN generate_series(1, 9999)`,
    );
    await start(one, definition, 'lone', lone);
    await start(one, definition, 'system');
    await one.start();
    await waitFor('both', () => ran.includes('lone') && ran.includes('system'));
    await one.stop();
    expect(ran.indexOf('lone')).toBeLessThan(20);
    expect(ran.indexOf('system')).toBeLessThan(20);
  });

  it('takes urgent tasks first and background ones last, and those too in the end', async () => {
    const [urgent, normal, background] = [
      noted('test.urgent', 'urgent'),
      noted('test.normal'),
      noted('test.background', 'background'),
    ];
    const one = engine([urgent, normal, background], { concurrency: 1 });
    await start(one, background, 'background');
    for (let i = 0; i < 12; i += 1) await start(one, normal, 'normal');
    await start(one, urgent, 'urgent');
    await one.start();
    await waitFor('all', () => ran.length === 14);
    // The first claim cannot know yet that there is more.
    expect(ran.indexOf('urgent')).toBeLessThanOrEqual(1);
    expect(ran.indexOf('background')).toBeGreaterThanOrEqual(0);
    expect(ran.filter((n) => n === 'normal')).toHaveLength(12);
  });

  describe('limits, over two processes', () => {
    /** Calls under way by host, their highest number, and the way to let them end. */
    const gauge = () => {
      const now = new Map<string, number>();
      const most = new Map<string, number>();
      const waiting: (() => void)[] = [];
      nodes.on('thing.make', async ({ hostId }) => {
        now.set(hostId, (now.get(hostId) ?? 0) + 1);
        most.set(hostId, Math.max(most.get(hostId) ?? 0, now.get(hostId) ?? 0));
        await new Promise<void>((resolve) => waiting.push(resolve));
        now.set(hostId, (now.get(hostId) ?? 1) - 1);
        return { done: true, result: { made: 'it' } };
      });
      return { now, most, waiting };
    };
    const calling = (options: { limit?: number } = {}) =>
      defineWorkflow('test.calling', { version: 1, input, deadline: '10m', ...options })
        .remote('make', {
          verb: makeThing,
          node: (c) => c.input.n,
          args: () => ({ name: 'x' }),
          undo: { verb: dropThing, node: (c) => c.input.n, args: () => ({ name: 'x' }) },
        })
        .tx('note', { run: async (c) => void ran.push(c.input.n), noUndo: 'a note' });

    it('hold for the calls to one host, whose waiting tasks take no worker from the other hosts', async () => {
      const { now, most, waiting } = gauge();
      const definition = calling();
      const [one, two] = [
        engine([definition], { concurrency: 8, hostConcurrency: 3 }),
        engine([definition], { concurrency: 8, hostConcurrency: 3 }),
      ];
      const ids: string[] = [];
      for (let i = 0; i < 30; i += 1) ids.push(await start(one, definition, hostA));
      await Promise.all([one.start(), two.start()]);
      await waitFor('the first three', () => now.get(hostA) === 3);
      ids.push(await start(one, definition, hostB));
      await waitFor('the other host', () => now.get(hostB) === 1);
      const letGo = setInterval(() => waiting.splice(0).forEach((end) => end()), 5);
      await Promise.all(ids.map(async (id) => expect(await one.settled(id)).toBe('succeeded')));
      clearInterval(letGo);
      expect(most.get(hostA)).toBe(3);
      expect(await db.database.query('SELECT * FROM task_slot')).toEqual([]);
      expect(ran).toHaveLength(31);
    });

    it('hold for tasks of one type, and those that wait are queued still', async () => {
      const { now, most, waiting } = gauge();
      const definition = calling({ limit: 2 });
      const [one, two] = [engine([definition], { concurrency: 8 }), engine([definition], { concurrency: 8 })];
      const ids: string[] = [];
      for (let i = 0; i < 10; i += 1) ids.push(await start(one, definition, i % 2 ? hostA : hostB));
      await Promise.all([one.start(), two.start()]);
      const total = (): number => (now.get(hostA) ?? 0) + (now.get(hostB) ?? 0);
      await waitFor('two', () => total() === 2);
      const waits = async (): Promise<number> =>
        (
          await db.database.query(
            `SELECT 1 FROM task WHERE waiting_for = 'type/test.calling@1' AND state = 'queued' AND started_at IS NULL`,
          )
        ).length;
      await waitFor('eight that wait', async () => (await waits()) === 8);
      // One that waits is cancelled without a place.
      const cancelled =
        (await db.database.query<{ id: string }>(`SELECT id FROM task WHERE waiting_for IS NOT NULL LIMIT 1`))[0]?.id ??
        '';
      await db.database.tx((op) => one.cancel(op, cancelled, 'test'));
      expect(await one.settled(cancelled)).toBe('cancelled');
      let highest = 0;
      const letGo = setInterval(() => {
        highest = Math.max(highest, total());
        waiting.splice(0).forEach((end) => end());
      }, 5);
      await Promise.all(
        ids.filter((id) => id !== cancelled).map(async (id) => expect(await one.settled(id)).toBe('succeeded')),
      );
      clearInterval(letGo);
      expect(highest).toBe(2);
      expect(Math.max(most.get(hostA) ?? 0, most.get(hostB) ?? 0)).toBeLessThanOrEqual(2);
      expect(await db.database.query('SELECT * FROM task_slot')).toEqual([]);
    });

    it('are kept for the next call to the same host, and given back for another one and for all that waits', async () => {
      const held: Record<string, string[]> = {};
      const scopes = async (): Promise<string[]> =>
        (await db.database.query<{ scope: string }>('SELECT scope FROM task_slot ORDER BY scope')).map(
          ({ scope }) => scope,
        );
      nodes.on(makeThing.name, async ({ hostId, key }) => {
        held[`${key.split('/')[1]} on ${hostId === hostA ? 'a' : 'b'}`] = await scopes();
        return { done: true, result: { made: 'it' } };
      });
      const callTo = (hostId: string) => ({
        verb: makeThing,
        node: () => hostId,
        args: () => ({ name: 'x' }),
        noUndo: 'it leaves nothing',
      });
      const between = {
        run: async () => void (held[`between ${Object.keys(held).length}`] = await scopes()),
        noUndo: 'it only looks',
      };
      const definition = defineWorkflow('test.several', { version: 1, input, deadline: '10m' })
        .remote('one', callTo(hostA))
        .tx('look', between)
        .remote('two', callTo(hostA))
        .tx('look-again', between)
        .remote('three', callTo(hostB))
        .wait('rest', {
          until: async () => {
            held['asleep'] ??= await scopes();
            return true;
          },
          every: '1s',
          timeout: '1m',
        })
        .tx('end', between);
      const one = engine([definition]);
      await one.start();
      expect(await one.settled(await start(one, definition, 'x'))).toBe('succeeded');
      const [a, b] = [`host/${hostA}`, `host/${hostB}`];
      expect(held).toMatchObject({
        'one on a': [a],
        'between 1': [a],
        'two on a': [a],
        'between 3': [a],
        'three on b': [b],
        asleep: [],
      });
      expect(await scopes()).toEqual([]);
    });

    it('are given back by a task that has to wait for one at another host, so that no two wait for each other', async () => {
      const begun: string[] = [];
      let letGo: () => void = () => undefined;
      const both = new Promise<void>((resolve) => (letGo = resolve));
      nodes.on(makeThing.name, async ({ key }) => {
        begun.push(key);
        if (begun.length === 2) letGo();
        await both;
        return { done: true, result: { made: 'it' } };
      });
      const other = (hostId: string): string => (hostId === hostA ? hostB : hostA);
      const call = (node: (c: { input: { n: string } }) => string) => ({
        verb: makeThing,
        node,
        args: () => ({ name: 'x' }),
        noUndo: 'it leaves nothing',
      });
      const definition = defineWorkflow('test.crossing', { version: 1, input, deadline: '10m' })
        .remote(
          'here',
          call((c) => c.input.n),
        )
        .tx('look', { run: async () => ({}), noUndo: 'it only looks' })
        .remote(
          'there',
          call((c) => other(c.input.n)),
        );
      const one = engine([definition], { hostConcurrency: 1, slotRecheckMs: 100 });
      await one.start();
      const ids = [await start(one, definition, hostA), await start(one, definition, hostB)];
      for (const id of ids) expect(await one.settled(id)).toBe('succeeded');
      expect(await db.database.query('SELECT * FROM task_slot')).toEqual([]);
    });

    it('are held on to by a task whose worker is gone, and not counted twice when another goes on', async () => {
      const { waiting } = gauge();
      const definition = calling();
      const one = engine([definition], { leaseMs: 2_000, hostConcurrency: 1 });
      const id = await start(one, definition, hostA);
      await one.start();
      await waitFor('the call', () => waiting.length === 1);
      await db.database.query(
        `UPDATE task SET owner = 'somebody else', fence = fence + 1, lease_until = now() + interval '300 ms', wake_at = now() + interval '300 ms' WHERE id = $1`,
        [id],
      );
      await waitFor('the call again', () => waiting.length >= 2);
      expect(await db.database.query('SELECT scope FROM task_slot')).toEqual([{ scope: `host/${hostA}` }]);
      waiting.splice(0).forEach((end) => end());
      expect(await one.settled(id)).toBe('succeeded');
      expect(await db.database.query('SELECT * FROM task_slot')).toEqual([]);
    });
  });

  it('waits for the lock when its definition says so, in order, and refuses a queue that is too long', async () => {
    const gates: (() => void)[] = [];
    const definition = defineWorkflow('test.queued', {
      version: 1,
      input,
      deadline: '10m',
      lock: () => 'one',
      whenLocked: 'wait',
    }).tx('note', {
      run: async (c) => {
        await new Promise<void>((resolve) => gates.push(resolve));
        ran.push(c.input.n);
      },
      noUndo: 'a note',
    });
    const one = engine([definition]);
    await one.start();
    const ids: string[] = [];
    for (let i = 0; i < 4; i += 1) ids.push(await start(one, definition, String(i)));
    await waitFor('the first', () => gates.length === 1);
    expect((await taskRow(db.database, ids[3] ?? '')).lock_state).toBe('waiting');
    const letGo = setInterval(() => gates.splice(0).forEach((end) => end()), 5);
    for (const id of ids) expect(await one.settled(id)).toBe('succeeded');
    clearInterval(letGo);
    expect(ran).toEqual(['0', '1', '2', '3']);
  });
});
