import { z } from 'zod';
import { defineWorkflow } from '../../../src/core/workflow/definition/definition';
import type { RegistrableDefinition } from '../../../src/core/workflow/definition/definition-registry';
import type { TestEngine } from '../../support/test-engine';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { createLedger, dropThing, hostA, ledger, makeThing, newEngine } from '../../support/workflow-harness';
import { FakeNodes } from '../../support/fake-nodes';
import { MemoryOutbox } from '../../support/memory-outbox';

/** An engine, its hosts and what it tells, on a database of its own for the suite that calls it; anew for each test. */
export const engineSuite = () => {
  let db: TestDatabase;
  let nodes: FakeNodes;
  let outbox: MemoryOutbox;
  let engine: TestEngine | undefined;

  beforeAll(async () => {
    db = await startTestDatabase();
    await createLedger(db.database);
  });
  afterAll(() => db.close());
  beforeEach(() => {
    nodes = new FakeNodes();
    outbox = new MemoryOutbox();
  });
  afterEach(async () => {
    await engine?.stop();
    engine = undefined;
    await db.database.query('TRUNCATE task, task_step, task_slot, task_lock, effect');
  });

  const run = async (definitions: readonly RegistrableDefinition[], settings = {}): Promise<TestEngine> => {
    engine = newEngine(db.database, definitions, { nodes, outbox, settings });
    await engine.start();
    return engine;
  };

  const undone: string[] = [];
  /** claim (tx), make (remote), mark (tx), finish (remote): each leaves a trace and removes it again. */
  const chain = (
    over: { mark?: () => Promise<void> | void; deadline?: '10m' | '300ms' | '1s'; undoClaim?: () => void } = {},
  ) =>
    defineWorkflow('test.chain', {
      version: 1,
      input: z.object({ name: z.string() }),
      lock: (i) => `thing/${i.name}`,
      deadline: over.deadline ?? '10m',
      whenUndone: async (c, error) => {
        undone.push(`whenUndone:${error.code}`);
        await ledger.add(db.database, c.op, c.taskId, 'when-undone');
      },
      whenStuck: (c, error) => ledger.add(db.database, c.op, c.taskId, `when-stuck:${error.code}`),
    })
      .tx('claim', {
        run: async (c) => {
          await ledger.add(db.database, c.op, c.taskId, 'claim');
          return { host: hostA, when: new Date(0) };
        },
        undo: async (c, output) => {
          over.undoClaim?.();
          undone.push(`claim:${output?.host === hostA}`);
          await ledger.remove(db.database, c.op, c.taskId, 'claim');
        },
      })
      .remote('make', {
        title: 'Make the thing',
        verb: makeThing,
        node: (c) => c.out.claim.host,
        args: (c) => ({ name: c.input.name }),
        retry: { backoff: '10ms' },
        undo: {
          verb: dropThing,
          node: (c) => c.out.claim?.host,
          args: (c) => {
            undone.push(`make:${c.out.claim ? 'claimed' : 'unclaimed'}`);
            return { name: c.input.name };
          },
        },
      })
      .tx('mark', {
        run: async (c) => {
          await ledger.add(db.database, c.op, c.taskId, 'mark');
          await over.mark?.();
          return c.out.make.made;
        },
        retry: { backoff: '10ms', attempts: 3 },
        undo: async (c, output) => {
          undone.push(`mark:${output ?? 'never'}`);
          await ledger.remove(db.database, c.op, c.taskId, 'mark');
        },
      });
  beforeEach(() => void (undone.length = 0));
  return { run, chain, undone, started: () => ({ db, nodes, outbox }) };
};
