import { z } from 'zod';
import { NodeUnreachableError, NodeVerbError } from '../../../src/core/m2m/management/node-caller';
import { defineWorkflow } from '../../../src/core/workflow/definition/definition';
import { PermanentError } from '../../../src/core/workflow/definition/workflow-error';
import { type TestDatabase } from '../../support/postgres';
import {
  dropThing,
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
  const { run, chain } = suite;
  let db: TestDatabase;
  let nodes: FakeNodes;
  let outbox: MemoryOutbox;
  beforeEach(() => {
    ({ db, nodes, outbox } = suite.started());
  });

  it('gets stuck when undo does not succeed in time, and obeys operators', async () => {
    let broken = true;
    const definition = chain({
      deadline: '300ms',
      mark: () => Promise.reject(new PermanentError('no_luck', 'no luck')),
      undoClaim: () => {
        if (broken) throw new Error('cannot release');
      },
    });
    const e = await run([definition]);
    const start = (): Promise<string> =>
      db.database.tx(
        async (op) => (await e.start(op, definition, { name: 'x' }, { ...startOptions, subject: subject() })).id,
      );
    const first = await start();
    expect(await e.settled(first)).toBe('stuck');
    expect(await taskRow(db.database, first)).toMatchObject({
      state: 'stuck',
      undone: false,
      lock_state: 'held',
      error: { code: 'no_luck', hint: expect.stringContaining('"claim"') },
    });
    expect(await ledger.of(db.database, first)).toEqual(['claim', 'when-stuck:no_luck']);
    await expect(start()).rejects.toMatchObject({ code: 'task_running' });
    broken = false;
    await db.database.tx((op) => e.retry(op, first));
    expect(await e.settled(first)).toBe('failed');
    expect(await taskRow(db.database, first)).toMatchObject({ undone: true, lock_state: null });
    await expect(db.database.tx((op) => e.retry(op, first))).rejects.toMatchObject({
      status: 409,
      code: 'task_not_stuck',
    });

    broken = true;
    const second = await start();
    expect(await e.settled(second)).toBe('stuck');
    expect(await db.database.tx((op) => e.skipStep(op, second))).toBe('claim');
    expect(await e.settled(second)).toBe('failed');
    expect(await ledger.of(db.database, second)).toContain('claim');

    const third = await start();
    expect(await e.settled(third)).toBe('stuck');
    await db.database.tx((op) => e.abandon(op, third));
    expect(await e.settled(third)).toBe('failed');
    expect(await taskRow(db.database, third)).toMatchObject({ undone: false, lock_state: null });
  });

  it('awaits long verbs by event, with polling as the fallback, without holding a worker', async () => {
    nodes.on('thing.make', () => ({ done: false }));
    const definition = chain();
    const e = await run([definition], { concurrency: 1, outcomePollMs: 60_000, outcomePollMaxMs: 60_000 });
    const start = (name: string): Promise<string> =>
      db.database.tx(
        async (op) => (await e.start(op, definition, { name }, { ...startOptions, subject: subject() })).id,
      );
    const ids = [await start('a'), await start('b'), await start('c')];
    while (nodes.calls.length < 3) await new Promise((r) => setTimeout(r, 10));
    for (const id of ids) {
      nodes.outcomes.set(`${id}/make/run`, { made: 'later' });
      await e.onVerbDone(hostA, `${id}/make/run`);
    }
    for (const id of ids) expect(await e.settled(id)).toBe('succeeded');
    expect(nodes.calls).toHaveLength(3);
    await e.stop();

    const polling = await run([definition], { outcomePollMs: 50 });
    const id = await db.database.tx(
      async (op) => (await polling.start(op, definition, { name: 'd' }, { ...startOptions, subject: subject() })).id,
    );
    while (nodes.calls.length < 4) await new Promise((r) => setTimeout(r, 10));
    nodes.outcomes.set(`${id}/make/run`, new NodeVerbError(hostA, 'thing.make', 'broken', 'it broke', true));
    expect(await polling.settled(id)).toBe('failed');
    expect(await taskRow(db.database, id)).toMatchObject({ error: { code: 'broken', host: hostA } });
  });

  it('skips steps by `when`, undoes no skipped one, and takes lost nodes for done where it may', async () => {
    nodes.on('thing.drop', (call) => {
      throw new NodeUnreachableError(call.hostId, 'gone');
    });
    const definition = defineWorkflow('test.drop', { version: 1, input: z.object({}), deadline: '1m' })
      .remote('maybe', {
        verb: makeThing,
        node: () => hostA,
        args: () => ({ name: 'x' }),
        when: () => false,
        undo: { verb: dropThing, node: () => hostA, args: () => ({ name: 'x' }) },
      })
      .remote('drop', {
        verb: dropThing,
        node: () => hostA,
        args: () => ({ name: 'x' }),
        tolerateLostNode: true,
        retry: { backoff: '5ms' },
        noUndo: 'a removal',
      });
    const e = await run([definition]);
    const { id } = await db.database.tx((op) => e.start(op, definition, {}, { ...startOptions, subject: subject() }));
    expect(await e.settled(id)).toBe('succeeded');
    expect(nodes.calls.map((c) => c.verb)).toEqual(['thing.drop', 'thing.drop', 'thing.drop']);
    expect(await stepRows(db.database, id)).toMatchObject([
      { name: 'maybe', state: 'skipped' },
      { name: 'drop', state: 'succeeded' },
    ]);
  });

  it('shares tasks between two engines and hands unfinished ones over when one stops', async () => {
    const definition = chain();
    const first = await run([definition], { concurrency: 4 });
    const second = newEngine(db.database, [definition], { nodes, outbox, settings: { concurrency: 4 } });
    await second.start();
    const ids = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        db.database.tx(
          async (op) =>
            (
              await (i % 2 ? first : second).start(
                op,
                definition,
                { name: `n${i}` },
                { ...startOptions, subject: subject() },
              )
            ).id,
        ),
      ),
    );
    await first.stop();
    for (const id of ids) expect(await second.settled(id)).toBe('succeeded');
    const twice = await db.database.query('SELECT task_id, what FROM effect GROUP BY 1, 2 HAVING count(*) > 1');
    expect(twice).toEqual([]);
    await second.stop();
  });
});
