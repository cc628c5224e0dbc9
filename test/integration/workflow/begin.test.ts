import { z } from 'zod';
import type { Op } from '../../../src/core/db/rows/op';
import { defineWorkflow } from '../../../src/core/workflow/definition/definition';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import type { TestEngine } from '../../support/test-engine';
import { waitFor } from '../../support/wait-for';
import { createLedger, ledger, newEngine, startOptions, subject, taskRow } from '../../support/workflow-harness';

jest.setTimeout(180_000);

interface Row {
  state: string;
  owner: string | null;
  fence: string;
  held: boolean;
}

describe('the begin of a new task', () => {
  let db: TestDatabase;
  const engines: TestEngine[] = [];
  const gates = new Map<string, () => void>();
  const opened = new Map<string, Promise<void>>();

  beforeAll(async () => {
    db = await startTestDatabase();
    await createLedger(db.database);
  });
  afterAll(() => db.close());
  afterEach(async () => {
    for (const open of gates.values()) open();
    for (const engine of engines.splice(0)) await engine.stop();
    gates.clear();
    opened.clear();
    await db.database.query('TRUNCATE task, task_step, task_slot, task_lock, effect');
  });

  const definition = defineWorkflow('test.gated', {
    version: 1,
    input: z.object({ gate: z.string() }),
    deadline: '10m',
    limit: 50,
  })
    .local('wait', { run: async (c) => opened.get(c.input.gate), noUndo: 'it only waits' })
    .tx('note', {
      run: (c) => ledger.add(db.database, c.op, c.taskId, 'ran'),
      undo: (c) => ledger.remove(db.database, c.op, c.taskId, 'ran'),
    });
  /** Tasks of this gate stay at work until it is opened. */
  const close = (gate: string): void => void opened.set(gate, new Promise((resolve) => gates.set(gate, resolve)));
  const engineWith = async (settings = {}): Promise<TestEngine> => {
    const engine = newEngine(db.database, [definition], { settings: { pollMs: 60_000, ...settings } });
    engines.push(engine);
    await engine.start();
    // It looks for tasks when it starts, and until it has seen that none waits a new one is queued behind them.
    await waitFor('a look', async () => {
      const [id, row] = await db.database.tx(async (op) => {
        const task = await start(engine, op);
        return [task, await rowOf(op, task)] as const;
      });
      expect(await engine.settled(id)).toBe('succeeded');
      return row?.state === 'running';
    });
    return engine;
  };
  const start = async (engine: TestEngine, op: Op, gate = ''): Promise<string> =>
    (await engine.start(op, definition, { gate }, { ...startOptions, subject: subject() })).id;
  const rowOf = async (op: Op, id: string): Promise<Row | undefined> =>
    (
      await op.query<Row>(
        'SELECT state, owner, fence, lease_until > clock_timestamp() AS held FROM task WHERE id = $1',
        [id],
      )
    )[0];
  const ran = async (id: string): Promise<number> =>
    (await db.database.query('SELECT 1 FROM effect WHERE task_id = $1', [id])).length;

  it('comes with its commit: it is stored as its worker’s own, and claimed by nobody', async () => {
    const engine = await engineWith();
    const [id, row] = await db.database.tx(async (op) => {
      const task = await start(engine, op);
      return [task, await rowOf(op, task)] as const;
    });
    expect(row).toEqual({ state: 'running', owner: expect.any(String) as string, fence: '1', held: true });
    expect(await engine.settled(id)).toBe('succeeded');
    expect(await taskRow(db.database, id)).toMatchObject({ fence: '1' });
    expect(await ran(id)).toBe(1);
  });

  it.each([
    ['task', 'state'],
    ['task', 'lock_state'],
    ['task', 'outcome'],
    ['task_step', 'phase'],
    ['task_step', 'state'],
  ])('leaves a row that no word is written into which %s.%s does not know', async (table, column) => {
    const engine = await engineWith();
    const id = await db.database.tx((op) => start(engine, op));
    expect(await engine.settled(id, 20_000)).toBe('succeeded');
    const where = table === 'task' ? 'id' : 'task_id';
    await expect(db.database.query(`UPDATE ${table} SET ${column} = 'gone' WHERE ${where} = $1`, [id])).rejects.toThrow(
      `${table}_${column.replace(`${table}_`, '')}`,
    );
  });

  it('does not come with a rollback', async () => {
    const engine = await engineWith();
    let id = '';
    await expect(
      db.database.tx(async (op) => {
        id = await start(engine, op);
        throw new Error('never mind');
      }),
    ).rejects.toThrow('never mind');
    const next = await db.database.tx((op) => start(engine, op));
    expect(await engine.settled(next)).toBe('succeeded');
    expect([await ran(id), await rowOf(db.database.op, id)]).toEqual([0, undefined]);
  });

  it('waits its turn when there is no room, also for more of one transaction than there is room for', async () => {
    const engine = await engineWith({ concurrency: 2 });
    close('a');
    const ids = await db.database.tx(async (op) => {
      const all = [];
      for (let i = 0; i < 3; i += 1) all.push(await start(engine, op, 'a'));
      return all;
    });
    const fourth = await db.database.tx((op) => start(engine, op, 'a'));
    const rows = await Promise.all([...ids, fourth].map((id) => rowOf(db.database.op, id)));
    expect(rows.map((row) => row?.state)).toEqual(['running', 'running', 'queued', 'queued']);
    gates.get('a')?.();
    for (const id of [...ids, fourth]) expect(await engine.settled(id)).toBe('succeeded');
  });

  it('keeps its place until its transaction ends, and gives it up with a rollback', async () => {
    const engine = await engineWith({ concurrency: 1 });
    const stateOfAnother = async (): Promise<string | undefined> => {
      let state: string | undefined;
      const end = db.database.tx(async (op) => {
        state = (await rowOf(op, await start(engine, op)))?.state;
        throw new Error('never mind');
      });
      await expect(end).rejects.toThrow('never mind');
      return state;
    };
    const id = await db.database.tx(async (op) => {
      const task = await start(engine, op);
      expect(await stateOfAnother()).toBe('queued');
      return task;
    });
    expect(await engine.settled(id, 20_000)).toBe('succeeded');
    await waitFor('its place to be free', async () => (await stateOfAnother()) === 'running');
    expect(await stateOfAnother()).toBe('running');
  });

  it('is given back when the room has gone meanwhile, and the next one to have room begins it', async () => {
    const engine = await engineWith({ concurrency: 1 });
    close('a');
    let second = '';
    await db.database.tx(async (op) => {
      second = await start(engine, op);
      expect(await rowOf(op, second)).toMatchObject({ state: 'running' });
      // The place is kept for it, but whoever is claimed meanwhile has it first.
      const first = await db.database.tx(async (other) => {
        const task = await start(engine, other, 'a');
        expect(await rowOf(other, task)).toMatchObject({ state: 'queued' });
        return task;
      });
      await waitFor('the claim', async () => (await rowOf(db.database.op, first))?.state === 'running');
    });
    const other = await engineWith();
    expect(await other.settled(second)).toBe('succeeded');
    expect([await taskRow(db.database, second), await ran(second)]).toMatchObject([{ fence: '2' }, 1]);
  });

  it('is another’s when the transaction took longer than the lease', async () => {
    const engine = await engineWith({ leaseMs: 300 });
    await engineWith({ pollMs: 1_000 });
    const id = await db.database.tx(async (op) => {
      const task = await start(engine, op);
      await op.query('SELECT pg_sleep(0.4)');
      return task;
    });
    expect(await engine.settled(id)).toBe('succeeded');
    expect([await taskRow(db.database, id), await ran(id)]).toMatchObject([{ fence: '2' }, 1]);
  });

  it('is free when the lease ends of a process that died between the commit and the begin', async () => {
    const [dying, other] = [await engineWith({ leaseMs: 300 }), await engineWith({ pollMs: 1_000 })];
    const id = await db.database.tx((op) =>
      // Its hooks go with the process.
      start(dying, Object.create(op, { afterCommit: { value: () => undefined } }) as Op),
    );
    expect(await rowOf(db.database.op, id)).toMatchObject({ state: 'running', fence: '1' });
    expect(await other.settled(id)).toBe('succeeded');
    expect([await taskRow(db.database, id), await ran(id)]).toMatchObject([{ fence: '2' }, 1]);
  });
});
