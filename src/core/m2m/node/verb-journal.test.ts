import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { v7 as timeOrdered } from 'uuid';
import { VerbJournal, type VerbJournalOptions, type VerbResult } from './verb-journal';

const done: VerbResult = { verb: 'x.y', ok: true, result: {} };
const hour = 3_600_000;

describe('VerbJournal', () => {
  let dir: string;
  const open = async (options: Partial<VerbJournalOptions> = {}): Promise<VerbJournal> => {
    const journal = new VerbJournal({ dir, ...options });
    await journal.open();
    return journal;
  };
  const call = async (journal: VerbJournal, task: string, step = 'a', fence = 1): Promise<string> => {
    const key = `${task}/${step}/run`;
    await journal.recordFence(task, fence);
    await journal.recordResult(key, done);
    return key;
  };
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'vc-verbs-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('keeps results until their task is over, and fences a while longer', async () => {
    const journal = await open();
    const [live, over] = [timeOrdered(), timeOrdered()];
    const keys = [await call(journal, live), await call(journal, over), await call(journal, over, 'b', 2)];
    expect(journal.unconfirmed(0)).toEqual([live, over]);
    journal.confirm([over], [live]);
    await journal.prune();
    expect(keys.map((key) => journal.result(key))).toEqual([done, undefined, undefined]);
    expect([journal.fence(live), journal.fence(over)]).toEqual([1, 2]);
    expect(journal.unconfirmed(0, Date.now() + 1)).toEqual([live]);

    await journal.prune(Date.now() + 2 * hour);
    expect([journal.fence(live), journal.fence(over)]).toEqual([1, undefined]);
    expect(journal.result(keys[0] ?? '')).toEqual(done);
    await journal.close();
  });

  it('knows after a restart which tasks it may have forgotten', async () => {
    const first = await open();
    const [old, late] = [timeOrdered({ msecs: Date.now() - 60_000 }), timeOrdered({ msecs: Date.now() - 30_000 })];
    await call(first, old);
    await call(first, late);
    expect(first.mustBeVerified(old)).toBe(false);
    first.confirm([old], [late]);
    await first.prune(Date.now() + 2 * hour);
    const unseen = timeOrdered({ msecs: Date.now() - 90_000 });
    for (const journal of [first, await (await first.close(), open())]) {
      expect(journal.mustBeVerified(unseen)).toBe(true);
      expect(journal.mustBeVerified(late)).toBe(false);
      expect(journal.mustBeVerified(timeOrdered())).toBe(false);
      expect(journal.mustBeVerified(randomUUID())).toBe(false);
      expect(journal.mustBeVerified('tombstone-1')).toBe(false);
      await journal.close();
    }
  });

  it('asks again after a restart for what the file still has, and bounds what it keeps of tasks that are over', async () => {
    const first = await open({ maxOver: 2 });
    const tasks = Array.from({ length: 5 }, (_, i) => timeOrdered({ msecs: 1_000_000 + i }));
    for (const task of tasks) await call(first, task);
    first.confirm(tasks, []);
    expect((await first.prune()).forgotten).toBe(3);
    expect(first.mustBeVerified(tasks[2] ?? '')).toBe(true);
    expect(first.fence(tasks[4] ?? '')).toBe(1);
    await first.close();
    const again = await open();
    expect(again.unconfirmed(0, Date.now() + 1).sort()).toEqual(tasks);
    await again.close();
  });

  it('keeps what management never spoke of for weeks, not for ever', async () => {
    const journal = await open();
    const key = await call(journal, timeOrdered());
    expect(await journal.prune(Date.now() + 29 * 24 * hour)).toEqual({ forgotten: 0, unconfirmed: 0 });
    expect(journal.result(key)).toEqual(done);
    expect(await journal.prune(Date.now() + 31 * 24 * hour)).toEqual({ forgotten: 1, unconfirmed: 1 });
    expect(journal.result(key)).toBeUndefined();
    await journal.close();
  });

  it('has no room for new calls before it has none for results', async () => {
    const journal = await open({ maxRecords: 100 });
    const tasks = Array.from({ length: 48 }, () => timeOrdered());
    for (const task of tasks) await call(journal, task);
    expect(journal.hasRoom).toBe(false);
    await journal.recordResult(`${tasks[0]}/b/run`, done);
    journal.confirm(tasks, []);
    expect(journal.hasRoom).toBe(true);
    await journal.close();
  });

  it('stays small through ten thousand tasks', async () => {
    const journal = await open({ maxOver: 50 });
    for (let round = 0; round < 20; round += 1) {
      const tasks = Array.from({ length: 500 }, () => timeOrdered());
      await Promise.all(tasks.map((task) => call(journal, task)));
      journal.confirm(tasks, []);
      await journal.prune();
    }
    expect(journal.count).toBeLessThan(60);
    await journal.recordFence(timeOrdered(), 1);
    await journal.close();
    expect(readFileSync(join(dir, 'journal.log'), 'utf8').split('\n').length).toBeLessThan(4_000);
  });

  it('remembers over a restart which steps were asked to be undone', async () => {
    const first = await open();
    await first.recordFence('t', 1);
    await first.recordUndone('t', 1, 'b');
    await first.recordUndone('t', 2, 'a');
    await first.recordFence('t', 3);
    await first.close();
    const again = await open();
    expect([again.fence('t'), again.isUndone('t', 'a'), again.isUndone('t', 'b'), again.isUndone('t', 'c')]).toEqual([
      3,
      true,
      true,
      false,
    ]);
    await again.close();
  });
});
