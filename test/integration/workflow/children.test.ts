import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { childTask, defineWorkflow } from '../../../src/core/workflow/definition/definition';
import { PermanentError } from '../../../src/core/workflow/definition/workflow-error';
import type { TestEngine } from '../../support/test-engine';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';
import {
  createLedger,
  ledger,
  newEngine,
  startOptions,
  stepRows,
  subject,
  taskRow,
} from '../../support/workflow-harness';
import { FakeNodes } from '../../support/fake-nodes';
import { MemoryOutbox } from '../../support/memory-outbox';

const partInput = z.object({ of: z.string(), n: z.number(), does: z.enum(['well', 'fail', 'wait']) });
type Part = z.output<typeof partInput>;

jest.setTimeout(180_000);

describe('a task that starts others', () => {
  let db: TestDatabase;
  let outbox: MemoryOutbox;
  const engines: TestEngine[] = [];

  beforeAll(async () => {
    db = await startTestDatabase({ pool: 40 });
    await createLedger(db.database);
    await db.database.query('CREATE TABLE flag (key text PRIMARY KEY)');
  });
  afterAll(() => db.close());
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.stop();
    await db.database.query('TRUNCATE task, task_step, task_slot, task_lock, effect, flag');
  });

  const part = () =>
    defineWorkflow('test.part', { version: 1, input: partInput, deadline: '10m', lock: (i) => `${i.of}/${i.n}` })
      .tx('begin', {
        run: (c) => ledger.add(db.database, c.op, c.input.of, `part ${c.input.n}`),
        undo: (c) => ledger.remove(db.database, c.op, c.input.of, `part ${c.input.n}`),
      })
      .wait('go', {
        until: async (c) =>
          c.input.does !== 'wait' || (await c.op.query('SELECT 1 FROM flag WHERE key = $1', [c.input.of])).length > 0
            ? true
            : undefined,
        every: '1s',
        timeout: '5m',
      })
      .tx('end', {
        run: async (c) => {
          if (c.input.does === 'fail') throw new PermanentError('broken', 'This part is broken.');
        },
        noUndo: 'a check',
      });
  const undoing = () =>
    defineWorkflow('test.part-undo', { version: 1, input: partInput, deadline: '10m' }).tx('remove', {
      run: (c) => ledger.remove(db.database, c.op, c.input.of, `part ${c.input.n}`),
      noUndo: 'a removal',
    });

  const family = (options: { tolerateFailures?: boolean; failAfter?: boolean; timeout?: '500ms' } = {}) => {
    const [child, undo] = [part(), undoing()];
    const input = z.object({ id: z.string(), parts: z.array(partInput) });
    const partsOf = (definition: typeof child, parts: Part[]) =>
      parts.map((p) => childTask(definition, p, { kind: 'part', id: randomUUID(), name: `part-${p.n}` }));
    const parent = defineWorkflow('test.parent', { version: 1, input, deadline: '10m' })
      .tx('before', {
        run: (c) => ledger.add(db.database, c.op, c.input.id, 'before'),
        undo: (c) => ledger.remove(db.database, c.op, c.input.id, 'before'),
      })
      .children('parts', {
        start: async (c) => partsOf(child, c.input.parts),
        undo: async (c) => partsOf(undo as unknown as typeof child, c.input.parts),
        ...(options.tolerateFailures && { tolerateFailures: true }),
        ...(options.timeout && { timeout: options.timeout }),
      })
      .tx('after', {
        run: async (c) => {
          if (options.failAfter) throw new PermanentError('later', 'It failed later.');
          await ledger.add(
            db.database,
            c.op,
            c.input.id,
            `after ${c.out.parts.length} parts, ${c.out.parts.filter((p) => p.state === 'succeeded').length} well`,
          );
        },
        undo: (c) => ledger.remove(db.database, c.op, c.input.id, 'after'),
      });
    return { parent, all: [parent, child, undo] as const };
  };

  const begin = async (options: Parameters<typeof family>[0], parts: Part['does'][], settings = {}) => {
    const { parent, all } = family(options);
    outbox = new MemoryOutbox();
    const engine = newEngine(db.database, all, { nodes: new FakeNodes(), outbox, settings });
    engines.push(engine);
    await engine.start();
    const id = randomUUID();
    const task = await db.database.tx((op) =>
      engine.start(
        op,
        parent,
        { id, parts: parts.map((does, n) => ({ of: id, n, does })) },
        { ...startOptions, requestId: 'req-1', subject: subject() },
      ),
    );
    return { engine, id, taskId: task.id, effects: () => ledger.of(db.database, id) };
  };
  const children = (taskId: string) =>
    db.database.query<{ id: string; state: string; parent_step: string; request_id: string }>(
      'SELECT id, state, parent_step, request_id FROM task WHERE parent_id = $1 ORDER BY parent_step, subject_name',
      [taskId],
    );

  it('waits for all of them, and shows how far they are', async () => {
    const { engine, id, taskId, effects } = await begin(
      {},
      Array.from({ length: 20 }, (_, i) => (i < 10 ? 'well' : 'wait')),
    );
    await waitFor(
      'half of them',
      async () => (await children(taskId)).filter((c) => c.state === 'succeeded').length === 10,
    );
    await waitFor('progress', async () => (await taskRow(db.database, taskId)).progress === 50);
    expect(
      outbox.events.some(
        (e) => e.type === 'task.updated' && e.subject.id === taskId && Number(e.data['progress']) > 33,
      ),
    ).toBe(true);
    await db.database.query('INSERT INTO flag VALUES ($1)', [id]);
    expect(await engine.settled(taskId)).toBe('succeeded');
    expect(await effects()).toContain('after 20 parts, 20 well');
    expect((await children(taskId))[0]).toMatchObject({ parent_step: 'parts/run', request_id: 'req-1' });
  });

  it('goes on at once when it starts none', async () => {
    const { engine, taskId, effects } = await begin({}, []);
    expect(await engine.settled(taskId)).toBe('succeeded');
    expect(await effects()).toEqual(['before', 'after 0 parts, 0 well']);
  });

  it('cancels the others when one fails, undoes what is done, and names the part that failed', async () => {
    const { engine, taskId, effects } = await begin({}, ['well', 'fail', 'wait', 'wait']);
    expect(await engine.settled(taskId)).toBe('failed');
    const row = await taskRow(db.database, taskId);
    expect(row).toMatchObject({
      undone: true,
      error: {
        code: 'child_failed',
        step: 'parts',
        message: expect.stringContaining('"part-1": This part is broken.'),
      },
    });
    expect((await children(taskId)).map((c) => c.state).sort()).toEqual([
      'cancelled',
      'cancelled',
      'failed',
      'succeeded',
      'succeeded',
      'succeeded',
      'succeeded',
      'succeeded',
    ]);
    expect(await effects()).toEqual([]);
  });

  it('may tolerate failures', async () => {
    const { engine, taskId, effects } = await begin({ tolerateFailures: true }, ['well', 'fail', 'well']);
    expect(await engine.settled(taskId)).toBe('succeeded');
    expect(await effects()).toContain('after 3 parts, 2 well');
  });

  it('undoes them by tasks again when a later step fails', async () => {
    const { engine, taskId, effects } = await begin({ failAfter: true }, ['well', 'well']);
    expect(await engine.settled(taskId)).toBe('failed');
    expect(await effects()).toEqual([]);
    expect((await children(taskId)).map((c) => c.parent_step)).toEqual([
      'parts/run',
      'parts/run',
      'parts/undo',
      'parts/undo',
    ]);
    expect((await stepRows(db.database, taskId)).filter((s) => s.phase === 'undo').map((s) => s.state)).toEqual([
      'succeeded',
      'succeeded',
      'succeeded',
    ]);
  });

  it('takes them with it when it is cancelled', async () => {
    const one = await begin({}, ['wait', 'wait']);
    await waitFor('both', async () => (await one.effects()).length === 3);
    await db.database.tx((op) => one.engine.cancel(op, one.taskId, 'test'));
    expect(await one.engine.settled(one.taskId)).toBe('cancelled');
    expect(await one.effects()).toEqual([]);
  });

  it('takes them with it when their time is over', async () => {
    const two = await begin({ timeout: '500ms' }, ['wait', 'well']);
    expect(await two.engine.settled(two.taskId)).toBe('failed');
    expect((await taskRow(db.database, two.taskId)).error).toMatchObject({ code: 'step_timeout' });
    expect(await two.effects()).toEqual([]);
  });

  it('loses no child whose end meets the moment that it falls asleep', async () => {
    const runs = await Promise.all(
      Array.from({ length: 25 }, () =>
        begin({}, ['well', 'well', 'well'], { slotRecheckMs: 3_600_000, pollMs: 3_600_000 }),
      ),
    );
    await Promise.all(runs.map(async (run) => expect(await run.engine.settled(run.taskId)).toBe('succeeded')));
  });
});
