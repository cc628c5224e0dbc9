import { z } from 'zod';
import { NodeUnreachableError, NodeVerbError } from '../../../src/core/m2m/management/node-caller';
import { Problem } from '../../../src/core/errors/problem';
import { defineWorkflow } from '../../../src/core/workflow/definition/definition';
import { PermanentError } from '../../../src/core/workflow/definition/workflow-error';
import { type TestDatabase } from '../../support/postgres';
import {
  hostA,
  ledger,
  makeThing,
  newEngine,
  startOptions,
  stepRows,
  subject,
  taskRow,
} from '../../support/workflow-harness';
import { FakeNodes } from '../../support/fake-nodes';
import { MemoryOutbox } from '../../support/memory-outbox';
import { engineSuite } from './engine-suite';

jest.setTimeout(180_000);

describe('the workflow engine', () => {
  const suite = engineSuite();
  const { run, chain, undone } = suite;
  let db: TestDatabase;
  let nodes: FakeNodes;
  let outbox: MemoryOutbox;
  beforeEach(() => {
    ({ db, nodes, outbox } = suite.started());
  });

  it('runs all steps in order and ends succeeded, with outputs as JSON', async () => {
    const definition = chain();
    const e = await run([definition]);
    const { id, created } = await db.database.tx((op) =>
      e.start(op, definition, { name: 'x' }, { ...startOptions, subject: subject() }),
    );
    expect(created).toBe(true);
    expect(await e.settled(id)).toBe('succeeded');
    expect(await ledger.of(db.database, id)).toEqual(['claim', 'mark']);
    expect(nodes.calls).toEqual([
      { hostId: hostA, verb: 'thing.make', args: { name: 'x' }, key: `${id}/make/run`, fence: 1 },
    ]);
    expect(await taskRow(db.database, id)).toMatchObject({
      state: 'succeeded',
      progress: 100,
      lock_state: null,
      owner: null,
      wake_at: null,
      error: null,
    });
    expect(await stepRows(db.database, id)).toMatchObject([
      { name: 'claim', state: 'succeeded', attempt: 1, output: { host: hostA, when: '1970-01-01T00:00:00.000Z' } },
      { name: 'make', state: 'succeeded', attempt: 1, output: { made: 'x' } },
      { name: 'mark', state: 'succeeded', attempt: 1, output: 'x' },
    ]);
    expect(outbox.events.map((event) => [event.type, event.data['state']])).toEqual(
      expect.arrayContaining([
        ['task.created', 'queued'],
        ['task.updated', 'succeeded'],
      ]),
    );
  });

  it('queues nothing when the caller rolls back', async () => {
    const definition = chain();
    const e = await run([definition]);
    await expect(
      db.database.tx(async (op) => {
        await e.start(op, definition, { name: 'x' }, { ...startOptions, subject: subject() });
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await db.database.query('SELECT 1 FROM task')).toEqual([]);
  });

  it('undoes in reverse on a permanent failure, the failed step first, and says why', async () => {
    const message = 'é漢'.repeat(150);
    const definition = chain({ mark: () => Promise.reject(new PermanentError('no_luck', message)) });
    const e = await run([definition]);
    const { id } = await db.database.tx((op) =>
      e.start(op, definition, { name: 'x' }, { ...startOptions, subject: subject() }),
    );
    expect(await e.settled(id)).toBe('failed');
    expect(undone).toEqual(['mark:never', 'make:claimed', 'claim:true', 'whenUndone:no_luck']);
    expect(await ledger.of(db.database, id)).toEqual(['when-undone']);
    expect(nodes.calls.map((c) => c.key)).toEqual([`${id}/make/run`, `${id}/make/undo`]);
    expect(await taskRow(db.database, id)).toMatchObject({
      state: 'failed',
      undone: true,
      error: { code: 'no_luck', message, step: 'mark', host: null },
    });
  });

  it('undoes the failed call itself: what it left is unknown', async () => {
    nodes.on('thing.make', (call) => {
      throw new NodeVerbError(call.hostId, call.verb, 'disk_full', 'no space left', true);
    });
    const definition = chain();
    const e = await run([definition]);
    const { id } = await db.database.tx((op) =>
      e.start(op, definition, { name: 'x' }, { ...startOptions, subject: subject() }),
    );
    expect(await e.settled(id)).toBe('failed');
    expect(undone).toEqual(['make:claimed', 'claim:true', 'whenUndone:disk_full']);
    expect(await taskRow(db.database, id)).toMatchObject({
      error: { code: 'disk_full', step: 'make', host: hostA, message: 'no space left' },
    });
  });

  it('goes on undoing under another key after a final failure, which the host keeps', async () => {
    const journal = new Map<string, NodeVerbError>();
    let broken = true;
    nodes.on('thing.drop', (call) => {
      const kept = journal.get(call.key);
      if (kept) throw kept;
      if (!broken) return { done: true, result: {} };
      const error = new NodeVerbError(call.hostId, call.verb, 'disk_broken', 'the disk does not answer', true);
      journal.set(call.key, error);
      broken = journal.size < 2;
      throw error;
    });
    const definition = chain({ mark: () => Promise.reject(new PermanentError('no_luck', 'no luck')) });
    const e = await run([definition]);
    const { id } = await db.database.tx((op) =>
      e.start(op, definition, { name: 'x' }, { ...startOptions, subject: subject() }),
    );
    expect(await e.settled(id)).toBe('failed');
    expect(nodes.calls.filter((c) => c.verb === 'thing.drop').map((c) => c.key)).toEqual([
      `${id}/make/undo`,
      `${id}/make/undo/1`,
      `${id}/make/undo/2`,
    ]);
  });

  it('calls again when the host has forgotten an accepted call, whatever the attempts', async () => {
    let calls = 0;
    nodes.on('thing.make', (call) => {
      calls += 1;
      if (calls > 1) return { done: true, result: { made: 'x' } };
      nodes.outcomes.set(call.key, new NodeVerbError(call.hostId, call.verb, 'unknown_key', 'no such call', false));
      return { done: false };
    });
    const once = defineWorkflow('test.once', { version: 1, input: z.object({}), deadline: '1m' }).remote('make', {
      verb: makeThing,
      node: () => hostA,
      args: () => ({ name: 'x' }),
      retry: { attempts: 1, backoff: '10ms' },
      noUndo: 'nothing',
    });
    const e = await run([once]);
    const { id } = await db.database.tx((op) => e.start(op, once, {}, { ...startOptions, subject: subject() }));
    expect(await e.settled(id)).toBe('succeeded');
    expect(nodes.calls.map((c) => c.key)).toEqual([`${id}/make/run`, `${id}/make/run`]);
  });

  it('repeats transient failures under the same key', async () => {
    let failures = 0;
    nodes.on('thing.make', (call) => {
      failures += 1;
      if (failures <= 2) throw new NodeUnreachableError(call.hostId, 'connection refused');
      return { done: true, result: { made: 'x' } };
    });
    const definition = chain();
    const e = await run([definition]);
    const { id } = await db.database.tx((op) =>
      e.start(op, definition, { name: 'x' }, { ...startOptions, subject: subject() }),
    );
    expect(await e.settled(id)).toBe('succeeded');
    expect(new Set(nodes.calls.map((c) => c.key)).size).toBe(1);
    const fences = nodes.calls.map((c) => c.fence);
    expect(fences).toEqual([...fences].sort((a, b) => a - b));
    expect((await stepRows(db.database, id))[1]).toMatchObject({ name: 'make', attempt: 3, error: null });
  });

  it('gives up after the stated attempts, and retries a Problem of 500 but none below', async () => {
    let tries = 0;
    const broken = chain({
      mark: () => {
        tries += 1;
        throw new Problem({ status: 503, code: 'busy', detail: 'busy' });
      },
    });
    const e = await run([broken]);
    const { id } = await db.database.tx((op) =>
      e.start(op, broken, { name: 'x' }, { ...startOptions, subject: subject() }),
    );
    expect(await e.settled(id)).toBe('failed');
    expect(tries).toBe(3);
    expect(await taskRow(db.database, id)).toMatchObject({ undone: true, error: { code: 'busy', step: 'mark' } });
  });

  it('hides what an unexpected error said from tenants and keeps it for operators', async () => {
    const broken = chain({ mark: () => Promise.reject(new TypeError('secret internals\u0000')) });
    const e = await run([broken]);
    const { id } = await db.database.tx((op) =>
      e.start(op, broken, { name: 'x' }, { ...startOptions, subject: subject() }),
    );
    expect(await e.settled(id)).toBe('failed');
    const { error } = await taskRow(db.database, id);
    expect(error).toMatchObject({ code: 'internal', cause: 'TypeError: secret internals\ufffd' });
    expect(error?.message).not.toContain('secret');
  });

  it('cancels while a call is being repeated', async () => {
    nodes.on('thing.make', (call) => {
      throw new NodeUnreachableError(call.hostId, 'no route');
    });
    const definition = chain();
    const slow = { ...definition.steps[1]?.spec, retry: { backoff: '5m' as const, maxBackoff: '5m' as const } };
    Object.assign(definition.steps[1] ?? {}, { spec: slow });
    const e = await run([definition]);
    const { id } = await db.database.tx((op) =>
      e.start(op, definition, { name: 'x' }, { ...startOptions, subject: subject() }),
    );
    while ((await taskRow(db.database, id)).owner !== null || nodes.calls.length === 0)
      await new Promise((r) => setTimeout(r, 10));
    expect(await db.database.tx((op) => e.cancel(op, id, 'someone'))).toBe('asked');
    expect(await e.settled(id)).toBe('cancelled');
    expect(undone).toEqual(['make:claimed', 'claim:true', 'whenUndone:cancelled']);
    expect(await db.database.tx((op) => e.cancel(op, id, 'someone'))).toBe('over');
  });

  it('cancels what only goes forward before its first step, and never after it', async () => {
    const definition = chain();
    Object.assign(definition.options, { goesForward: 'what is gone does not come back', whenLocked: 'wait' });
    const e = await run([definition]);
    let made = (): void => undefined;
    const free = new Promise<void>((resolve) => (made = resolve));
    const called = new Promise<void>((resolve) =>
      nodes.on('thing.make', async () => {
        resolve();
        await free;
        return { done: true, result: { made: 'x' } };
      }),
    );
    const begin = () =>
      db.database.tx((op) => e.start(op, definition, { name: 'x' }, { ...startOptions, subject: subject() }));
    const first = await begin();
    const second = await begin();
    await called;
    expect(await db.database.tx((op) => e.cancel(op, first.id, 'someone'))).toBe('too_late');
    expect(await db.database.tx((op) => e.cancel(op, second.id, 'someone'))).toBe('asked');
    expect(await e.settled(second.id)).toBe('cancelled');
    // As a statement of an older process, or a parent's, would do it.
    await db.database.query('UPDATE task SET cancel_requested_at = clock_timestamp() WHERE id = $1', [first.id]);
    made();
    expect(await e.settled(first.id)).toBe('succeeded');
    expect(await ledger.of(db.database, first.id)).toEqual(['claim', 'mark']);
    expect(await db.database.tx((op) => e.cancel(op, first.id, 'someone'))).toBe('over');
  });

  it('refuses a second task on the same lock and names the first; of 50 at once exactly one starts', async () => {
    nodes.on('thing.make', () => ({ done: false }));
    const definition = chain();
    const e = await run([definition]);
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, () =>
        db.database.tx((op) => e.start(op, definition, { name: 'x' }, { ...startOptions, subject: subject() })),
      ),
    );
    const won = results.filter((r) => r.status === 'fulfilled');
    expect(won).toHaveLength(1);
    const id = won[0]?.status === 'fulfilled' ? won[0].value.id : '';
    for (const r of results) {
      if (r.status === 'rejected')
        expect(r.reason).toMatchObject({
          status: 409,
          code: 'task_running',
          extra: { task: { id, type: 'test.chain' } },
        });
    }
    await db.database.tx((op) => e.cancel(op, id, 'test'));
    expect(await e.settled(id)).toBe('cancelled');
  });

  it('refuses to start on live tasks of an unknown version, and audits definitions', async () => {
    const definition = chain();
    const idle = newEngine(db.database, [definition], { nodes, outbox });
    await db.database.tx((op) => idle.start(op, definition, { name: 'x' }, { ...startOptions, subject: subject() }));
    const other = newEngine(db.database, [], { nodes, outbox });
    await expect(other.start()).rejects.toThrow('test.chain@1');
    const bad = defineWorkflow('test.bad', { version: 1, input: z.object({}), deadline: '1m' }).tx('step', {
      run: async () => undefined,
    } as never);
    expect(() => other.register([bad])).toThrow(
      'workflow test.bad@1: step "step": it has neither an undo nor a reason for none (noUndo)',
    );
  });
});
