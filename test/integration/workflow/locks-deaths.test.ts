import { TaskLockRepository } from '../../../src/core/workflow/storage/task-lock.repository';
import { TaskRunRepository } from '../../../src/core/workflow/storage/task-run.repository';
import { TaskSlots } from '../../../src/core/workflow/run/task-slots';
import { type TestDatabase } from '../../support/postgres';
import type { TestEngine } from '../../support/test-engine';
import { waitFor } from '../../support/wait-for';
import { newEngine, taskRow } from '../../support/workflow-harness';
import { lockSuite } from './lock-suite';

jest.setTimeout(180_000);

describe('tasks that need several locks', () => {
  const suite = lockSuite();
  const { open, patient, engine, start, begun, held } = suite;
  let db: TestDatabase;
  beforeAll(() => {
    db = suite.db();
  });

  /** One that was handed the first of its locks and finds the second free. Returns its id, not claimed yet. */
  const handedOne = async (e: TestEngine): Promise<string> => {
    const first = await start(e, patient, 'first', 'a');
    await e.start();
    await begun('first');
    const both = await start(e, patient, 'both', 'a', 'b');
    open.add('all');
    expect(await e.settled(first)).toBe('succeeded');
    return both;
  };

  it('a worker that dies right before the taking has taken nothing, and another takes and goes on', async () => {
    const dying = newEngine(db.database, [patient], { settings: { leaseMs: 400 } });
    const real = dying.part(TaskLockRepository);
    const reached = new Promise<void>((resolve) => {
      jest.spyOn(real, 'heldBy').mockImplementation(() => {
        jest.spyOn(dying.part(TaskRunRepository), 'claim').mockResolvedValue([]);
        resolve();
        return new Promise(() => undefined);
      });
    });
    jest.spyOn(dying.part(TaskRunRepository), 'renew').mockResolvedValue([]);
    const both = await handedOne(dying);
    await reached;
    expect(await held()).toEqual({ a: both });
    const e = await engine();
    expect(await e.settled(both)).toBe('succeeded');
    expect((await taskRow(db.database, both)).fence).toBe('2');
    void dying.stop();
  });

  it('a worker that lost its lease during the taking takes nothing', async () => {
    const late = newEngine(db.database, [patient], { settings: { leaseMs: 60_000 } });
    const store = late.part(TaskRunRepository);
    const locked = store.locked.bind(store);
    let refused: unknown;
    jest.spyOn(store, 'locked').mockImplementation(async (op, hold) => {
      // Meanwhile it is another's.
      await db.database.query(
        `UPDATE task SET owner = 'another', fence = fence + 1, lease_until = now() + interval '400 ms', wake_at = now() + interval '400 ms' WHERE id = $1`,
        [hold.taskId],
      );
      await locked(op, hold).catch((error: unknown) => {
        refused = error;
        throw error;
      });
    });
    const both = await handedOne(late);
    await waitFor('the refusal', () => refused !== undefined);
    expect(refused).toMatchObject({ name: 'LeaseLost' });
    await waitFor('the rollback', async () => Object.keys(await held()).length === 1);
    await late.stop();
    const e = await engine();
    expect(await e.settled(both)).toBe('succeeded');
  });

  it('a worker that dies right after the taking leaves it to the next, who takes nothing twice', async () => {
    const dying = newEngine(db.database, [patient], { settings: { leaseMs: 400 } });
    const slots = dying.part(TaskSlots);
    const admitted = slots.admitted.bind(slots);
    const reached = new Promise<void>((resolve) => {
      jest.spyOn(slots, 'admitted').mockImplementation((run) => {
        if (run.task.lockKeys?.length !== 2) return admitted(run);
        jest.spyOn(dying.part(TaskRunRepository), 'claim').mockResolvedValue([]);
        resolve();
        return new Promise(() => undefined);
      });
    });
    jest.spyOn(dying.part(TaskRunRepository), 'renew').mockResolvedValue([]);
    const both = await handedOne(dying);
    await reached;
    expect(await held()).toEqual({ a: both, b: both });
    const e = await engine();
    const take = jest.spyOn(e.part(TaskLockRepository), 'take');
    expect(await e.settled(both)).toBe('succeeded');
    expect(take).not.toHaveBeenCalled();
    expect((await taskRow(db.database, both)).fence).toBe('2');
    void dying.stop();
  });
});
