import { randomUUID } from 'node:crypto';
import { defineWorkflow } from '../../../src/core/workflow/definition/definition';
import { PermanentError } from '../../../src/core/workflow/definition/workflow-error';
import { TaskArchiveRepository } from '../../../src/core/workflow/archive/task-archive.repository';
import { TaskLockRepository } from '../../../src/core/workflow/storage/task-lock.repository';
import { type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';
import { startOptions, subject, taskRow } from '../../support/workflow-harness';
import { lockInput, lockSuite } from './lock-suite';

jest.setTimeout(180_000);

describe('tasks that need several locks', () => {
  const suite = lockSuite();
  const { open, guarded, refusing, patient, removal, forward, engine, start, begun, story, held, queued } = suite;
  let db: TestDatabase;
  beforeAll(() => {
    db = suite.db();
  });

  it('of two that want them in opposite order one is refused, or waits for the other', async () => {
    const e = await engine();
    for (let round = 0; round < 20; round += 1) {
      const results = await Promise.allSettled([
        start(e, refusing, `r${round}`, 'a', 'b'),
        start(e, refusing, `s${round}`, 'b', 'a'),
      ]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const waiting = await Promise.all([
        start(e, patient, `p${round}`, 'b', 'a'),
        start(e, patient, `q${round}`, 'a', 'b'),
      ]);
      open.add('all');
      for (const id of waiting) expect(await e.settled(id)).toBe('succeeded');
      open.clear();
    }
  });

  it('takes all or nothing: a refusal names the lock and its task, and leaves the others free', async () => {
    const e = await engine();
    const first = await start(e, refusing, 'first', 'volume/b');
    // Who asked goes on with its transaction in spite of the refusal.
    const refused = await db.database.tx((op) =>
      e
        .start(op, refusing, { name: 'x', keys: ['volume/b', 'volume/a'] }, { ...startOptions, subject: subject() })
        .catch((error: unknown) => error),
    );
    expect(refused).toMatchObject({
      status: 409,
      code: 'task_running',
      extra: { task: { id: first, type: 'test.refusing' }, lock: 'volume/b' },
    });
    expect(await held()).toEqual({ 'volume/b': first });
    open.add('all');
    expect(await e.settled(first)).toBe('succeeded');
    expect(await e.settled(await start(e, refusing, 'second', 'volume/a', 'volume/b'))).toBe('succeeded');
  });

  it('says of which object the lock is that another has', async () => {
    const e = await engine();
    const [instance, volume] = [randomUUID(), randomUUID()];
    const first = await start(e, refusing, 'first', `volume/${volume}`, `instance/${instance}`);
    const refusal = (keys: string[], id: string): Promise<string> =>
      db.database
        .tx((op) =>
          e.start(
            op,
            refusing,
            { name: 'x', keys },
            { ...startOptions, subject: { ...subject(id), kind: 'instance' } },
          ),
        )
        .then(
          () => '',
          (error: Error) => error.message,
        );
    const text = `Task ${first} (test.refusing) is still at work on`;
    expect(await refusal([`volume/${volume}`], randomUUID())).toContain(`${text} volume ${volume}.`);
    expect(await refusal([`instance/${instance}`], instance)).toContain(`${text} this instance.`);
    open.add('all');
    await e.settled(first);
  });

  it('one that waits for two leaves the free one to a third, and comes to both in the end', async () => {
    const e = await engine();
    const ids = [await start(e, patient, 'first', 'a')];
    await begun('first');
    ids.push(await start(e, patient, 'second', 'a', 'b'), await start(e, patient, 'third', 'b'));
    await begun('third');
    open.add('first');
    await queued(ids[1] ?? '', 'b');
    expect(await held()).toEqual({ a: ids[1], b: ids[2] });
    expect(await story()).toEqual(['first begins', 'third begins', 'first ends']);
    await expect(start(e, refusing, 'x', 'a')).rejects.toMatchObject({ extra: { task: { id: ids[1] }, lock: 'a' } });
    open.add('all');
    for (const id of ids) expect(await e.settled(id)).toBe('succeeded');
    expect(await story()).toEqual([
      'first begins',
      'third begins',
      'first ends',
      'third ends',
      'second begins',
      'second ends',
    ]);
  });

  it('one that waits for two is not passed over by those that want one of them and come later', async () => {
    const e = await engine();
    const [a, b] = [await start(e, patient, 'a', 'a'), await start(e, patient, 'b', 'b')];
    await begun('a');
    await begun('b');
    const both = await start(e, patient, 'both', 'a', 'b');
    open.add('a');
    await queued(both, 'b');
    const later = [];
    for (let n = 0; n < 5; n += 1)
      later.push(await start(e, patient, `later${n}`, 'b'), await start(e, patient, `more${n}`, 'a'));
    open.add('all');
    for (const id of [a, b, both, ...later]) expect(await e.settled(id)).toBe('succeeded');
    const beginnings = (await story()).filter((line) => line.endsWith('begins'));
    expect(beginnings.slice(0, 2).sort()).toEqual(['a begins', 'b begins']);
    expect(beginnings[2]).toBe('both begins');
  });

  it('a waiter that is cancelled gives back what it holds, and the next in the queue begins', async () => {
    const undone: string[] = [];
    const told = guarded('test.told', { whenLocked: 'wait', whenUndone: async (c) => void undone.push(c.input.name) });
    const e = await engine([told]);
    const b = await start(e, patient, 'b', 'b');
    const both = await start(e, told, 'both', 'a', 'b');
    expect(await held()).toMatchObject({ a: both });
    const next = await start(e, patient, 'next', 'a');
    expect(await db.database.tx((op) => e.cancel(op, both, 'me'))).toBe('asked');
    expect(await e.settled(both)).toBe('cancelled');
    expect(undone).toEqual(['both']);
    await begun('next');
    open.add('all');
    for (const id of [b, next]) expect(await e.settled(id)).toBe('succeeded');
    expect(await story()).not.toContain('both begins');
  });

  it('keeps no lock that is handed over while its waiter is cancelled', async () => {
    const e = await engine();
    open.add('all');
    const round = async (n: number): Promise<void> => {
      const [a, b] = [`a${n}`, `b${n}`];
      const first = await start(e, patient, 'first', a, b);
      const second = await start(e, patient, 'second', a, b);
      const third = await start(e, patient, 'third', b);
      await new Promise((resolve) => setTimeout(resolve, n % 40));
      await db.database.tx((op) => e.cancel(op, second, 'me'));
      expect(await e.settled(first)).toBe('succeeded');
      expect(['cancelled', 'succeeded']).toContain(await e.settled(second));
      expect(await e.settled(third)).toBe('succeeded');
    };
    await Promise.all(Array.from({ length: 60 }, (_, n) => round(n)));
  });

  it('a removal preempts the holders of all of its locks at once', async () => {
    const e = await engine();
    const [a, b] = [await start(e, refusing, 'a', 'a'), await start(e, refusing, 'b', 'b')];
    await Promise.all([begun('a'), begun('b')]);
    const both = await start(e, removal, 'both', 'a', 'b');
    expect((await taskRow(db.database, b)).cancel_requested_at).not.toBeNull();
    expect(await start(e, removal, 'again', 'b', 'a')).toBe(both);
    open.add('both');
    for (const id of [a, b]) expect(await e.settled(id)).toBe('cancelled');
    expect(await e.settled(both)).toBe('succeeded');
    expect(await story()).toEqual(['a begins', 'b begins', 'both begins', 'both ends']);
  });

  it('a removal leaves both holders alone when one of them only goes forward', async () => {
    const e = await engine();
    const [a, b] = [await start(e, refusing, 'a', 'a'), await start(e, forward, 'b', 'b')];
    await Promise.all([begun('a'), begun('b')]);
    await expect(start(e, removal, 'both', 'a', 'b')).rejects.toMatchObject({
      code: 'task_running',
      extra: { task: { id: b }, lock: 'b' },
    });
    expect((await taskRow(db.database, a)).cancel_requested_at).toBeNull();
    open.add('all');
    for (const id of [a, b]) expect(await e.settled(id)).toBe('succeeded');
  });

  it('a removal preempts one that holds a lock and waits for another, and whoever took its second meanwhile', async () => {
    const e = await engine();
    const b = await start(e, refusing, 'b', 'b');
    const waiter = await start(e, patient, 'waiter', 'a', 'b');
    await begun('b');
    const a = await start(e, removal, 'a', 'a');
    expect(await e.settled(waiter)).toBe('cancelled');
    await begun('a');
    const both = await start(e, removal, 'both', 'a', 'c');
    const c = await start(e, refusing, 'c', 'c');
    expect(await e.settled(a)).toBe('cancelled');
    // It finds the one that took its second lock when it comes to it.
    expect(await e.settled(c)).toBe('cancelled');
    open.add('all');
    for (const id of [b, both]) expect(await e.settled(id)).toBe('succeeded');
    expect(await story()).not.toContain('waiter begins');
  });

  it('a queue has a bound, and a removal gets past it', async () => {
    const e = await engine();
    const holder = await start(e, refusing, 'holder', 'a');
    const waiting = await Promise.all(Array.from({ length: 100 }, (_, n) => start(e, patient, `w${n}`, 'a')));
    await expect(start(e, patient, 'late', 'a')).rejects.toMatchObject({ status: 409, code: 'task_queue_full' });
    const first = await start(e, removal, 'removal', 'a');
    open.add('all');
    for (const id of [...waiting, first]) expect(await e.settled(id)).toBe('succeeded');
    expect(await e.settled(holder)).toBe('cancelled');
  });

  it('a removal of other locks does not join one of the same type', async () => {
    const e = await engine();
    const first = await start(e, removal, 'first', 'a', 'b');
    await begun('first');
    const second = await start(e, removal, 'second', 'b', 'c');
    expect(second).not.toBe(first);
    open.add('all');
    expect(await e.settled(first)).toBe('cancelled');
    expect(await e.settled(second)).toBe('succeeded');
  });

  it('a stuck task keeps all of its locks until it is abandoned, then they go to those who wait', async () => {
    let broken = true;
    let tried = false;
    const stuckable = defineWorkflow('test.stuckable', {
      version: 1,
      input: lockInput,
      lock: (i) => i.keys,
      deadline: '200ms',
    }).tx('try', {
      run: () => {
        tried = true;
        return Promise.reject(new PermanentError('no', 'no'));
      },
      undo: () => (broken ? Promise.reject(new Error('cannot')) : Promise.resolve()),
    });
    const e = await engine([stuckable]);
    const stuck = await start(e, stuckable as never, 'stuck', 'a', 'b');
    // One that has not begun a removal would end.
    await waitFor('its first step', () => tried);
    // Neither one that only waits its turn nor a removal that was cancelled takes over from it.
    const waiter = await start(e, patient, 'waiter', 'b');
    const cancelled = await start(e, removal, 'cancelled', 'a', 'b');
    await db.database.tx((op) => e.cancel(op, cancelled, 'me'));
    expect(await e.settled(stuck)).toBe('stuck');
    expect(await held()).toEqual({ a: stuck, b: stuck });
    await db.database.tx((op) => e.abandon(op, stuck));
    await begun('waiter');
    open.add('all');
    expect(await e.settled(waiter)).toBe('succeeded');

    const again = await start(e, stuckable as never, 'again', 'a', 'b');
    expect(await e.settled(again)).toBe('stuck');
    expect(await e.settled(await start(e, removal, 'over', 'b', 'c'))).toBe('succeeded');
    expect(await taskRow(db.database, again)).toMatchObject({ state: 'failed', undone: false });
    broken = false;
  });

  it('locks of a task that was taken out of the database by hand are freed and handed over', async () => {
    const e = await engine();
    const first = await start(e, refusing, 'first', 'a', 'b');
    await begun('first');
    const second = await start(e, patient, 'second', 'a', 'b');
    await waitFor('the pause', async () => (await taskRow(db.database, first)).owner === null);
    await db.database.query('WITH gone AS (DELETE FROM task WHERE id = $1) DELETE FROM inside', [first]);
    expect(await e.part(TaskLockRepository).freeLost()).toBe(2);
    open.add('all');
    expect(await e.settled(second)).toBe('succeeded');
    await e.part(TaskArchiveRepository).archive(0);
    expect(await e.part(TaskLockRepository).freeLost()).toBe(0);
  });

  it('refuses more locks than a task may need', async () => {
    const e = await engine();
    const keys = Array.from({ length: 17 }, (_, n) => `k${n}`);
    await expect(start(e, refusing, 'many', ...keys)).rejects.toThrow('16 locks at most');
  });

  it('all end, and none is inside of the same lock as another, whatever is asked in whatever order', async () => {
    const [one, two] = [await engine(), await engine()];
    open.add('all');
    // Always the same numbers, so that a failure comes again.
    let seed = 4711;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const plans = Array.from({ length: 240 }, (_, n) => ({
      n,
      e: random(2) ? one : two,
      definition: [patient, patient, patient, refusing, removal][random(5)] ?? patient,
      keys: ['a', 'b', 'c', 'd'].filter(() => random(2) === 1),
      cancel: random(4) === 0,
    }));
    const lane = async (): Promise<void> => {
      for (let plan = plans.shift(); plan; plan = plans.shift()) {
        const { e, definition, keys, n, cancel } = plan;
        const id = await start(e, definition, `n${n}`, ...keys).catch((error: { code?: string }) => {
          expect(error.code).toBe('task_running');
        });
        if (!id) continue;
        if (cancel) await db.database.tx((op) => e.cancel(op, id, 'me'));
        else if (n % 3 === 0) expect(['succeeded', 'cancelled']).toContain(await e.settled(id));
      }
    };
    await Promise.all(Array.from({ length: 12 }, lane));
    await waitFor(
      'all to end',
      async () => (await db.database.query('SELECT 1 FROM task WHERE ended_at IS NULL')).length === 0,
      30_000,
    );
    expect(await db.database.query(`SELECT error FROM task WHERE state NOT IN ('succeeded', 'cancelled')`)).toEqual([]);
  });
});
