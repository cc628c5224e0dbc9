import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { repositoryRoot } from '../../support/repository';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';
import type { TestWork } from './periodic-process';

jest.setTimeout(90_000);

/** Longer than a busy machine keeps a process from its timers. */
const leaseMs = 3_000;
const hour = `interval '1 hour'`;

interface Run {
  id: string;
  pid: number;
  /** Milliseconds of the database's clock. */
  began: number;
  ended: number | null;
  told: string | null;
}

describe("a cluster's periodic work in three processes", () => {
  let db: TestDatabase;
  let directory: string;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'vc-periodic-'));
    db = await startTestDatabase();
    await db.database.query(
      `CREATE TABLE run_log (id bigserial PRIMARY KEY, work text, pid int, began_at timestamptz DEFAULT clock_timestamp(),
                             ended_at timestamptz, told text)`,
    );
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
  });
  afterAll(async () => {
    await db?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const start = async (works: TestWork[], clockFile?: string): Promise<ChildProcess> => {
    const child = spawn(
      process.execPath,
      [
        '-r',
        join(repositoryRoot, 'test/support/ts-register.js'),
        ...(clockFile ? ['-r', join(repositoryRoot, 'test/model/clock-step.js')] : []),
        join(repositoryRoot, 'test/integration/periodic/periodic-process.ts'),
        db.url,
        String(leaseMs),
        JSON.stringify(works),
      ],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, ...(clockFile && { VC_STACK_TEST_CLOCK_FILE: clockFile }) },
      },
    );
    children.push(child);
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    return child;
  };
  const three = (work: TestWork): Promise<ChildProcess[]> => Promise.all([start([work]), start([work]), start([work])]);
  const runs = (work: string): Promise<Run[]> =>
    db.database.query<Run>(
      `SELECT id::text, pid, extract(epoch FROM began_at)::float8 * 1000 AS began,
              extract(epoch FROM ended_at)::float8 * 1000 AS ended, told
         FROM run_log WHERE work = $1 ORDER BY began_at`,
      [work],
    );
  const enough = (work: string, count: number): Promise<unknown> =>
    waitFor(`${count} runs`, async () => (await runs(work)).filter((run) => run.ended !== null).length >= count);
  /** Each after the end of the one before, and its pause. The last one may be under way. */
  const expectOneByOne = (all: Run[], everyMs: number): void => {
    const early = all.slice(1).filter((run, i) => run.began < (all[i]?.ended ?? Number.POSITIVE_INFINITY) + everyMs);
    expect(early).toEqual([]);
  };
  /** The only run that is under way. */
  const underWay = async (work: string, than = 0): Promise<Run> => {
    let found: Run | undefined;
    await waitFor('a run under way', async () => {
      found = (await runs(work)).find((run) => run.ended === null && run.pid !== than);
      return found !== undefined;
    });
    if (!found) throw new Error('none');
    return found;
  };

  it('is done once, by one process at a time, with its pause between', async () => {
    const work = { name: 'test.quick', everyMs: 60, takesMs: 0, lock: null };
    await three(work);
    await enough(work.name, 20);
    expectOneByOne(await runs(work.name), work.everyMs);
  });

  it('is not begun beside a run that takes longer than the pause, and longer than a lease', async () => {
    const work = { name: 'test.slow', everyMs: 50, takesMs: leaseMs + 1_000, lock: null };
    await three(work);
    await enough(work.name, 2);
    const all = await runs(work.name);
    expectOneByOne(all, work.everyMs);
    expect(all.map((run) => run.told)).toEqual(all.map(() => null));
  });

  it('is taken over from a process that is killed in the midst of a run, and from one that freezes', async () => {
    const work = { name: 'test.held', everyMs: 50, takesMs: 0, lock: 7 };
    const holder = new Client({ connectionString: db.url });
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock(7)');
    await three(work);
    const killed = await underWay(work.name);
    process.kill(killed.pid, 'SIGKILL');
    const frozen = await underWay(work.name, killed.pid);
    process.kill(frozen.pid, 'SIGSTOP');
    let third: Run | undefined;
    await waitFor('the third process', async () => {
      third = (await runs(work.name)).find((run) => ![killed.pid, frozen.pid].includes(run.pid));
      return third !== undefined;
    });
    await holder.query('SELECT pg_advisory_unlock(7)');
    await holder.end();
    await enough(work.name, 3);
    process.kill(frozen.pid, 'SIGCONT');
    await waitFor('the end of the frozen run', async () =>
      (await runs(work.name)).some((run) => run.id === frozen.id && run.ended !== null),
    );
    const all = await runs(work.name);
    expect(all.find((run) => run.id === killed.id)?.ended).toBeNull();
    expect(all.find((run) => run.id === frozen.id)?.told).toBe('another process has taken over');
    // What the others did meanwhile, and both since: one by one, and none cut short.
    expectOneByOne(
      all.filter((run) => run.began >= (third?.began ?? 0)),
      work.everyMs,
    );
    expect(all.filter((run) => run.told !== null)).toHaveLength(1);
  });

  it('does not mind clocks that are set: neither those of the processes nor the one of the database', async () => {
    const work = { name: 'test.clocks', everyMs: 60, takesMs: 0, lock: null };
    const file = join(directory, 'clock');
    writeFileSync(file, '0');
    const stepped = await start([work], file);
    await Promise.all([start([work]), start([work])]);
    for (const offset of [3_600_000, -3_600_000]) {
      writeFileSync(file, String(offset));
      stepped.kill('SIGUSR2');
      const before = (await runs(work.name)).length;
      await enough(work.name, before + 6);
    }
    expectOneByOne(await runs(work.name), work.everyMs);
    // A step of the database's clock is one of all its rows the other way: set back, then set forward.
    for (const step of [`+ ${hour}`, `- ${hour}`]) {
      await db.database.query(
        `UPDATE periodic_turn SET next_at = next_at ${step}, lease_until = lease_until ${step} WHERE name = $1`,
        [work.name],
      );
      const before = (await runs(work.name)).length;
      await enough(work.name, before + 4);
    }
  });

  it('is due at once for the others when its process stops in the midst of it', async () => {
    const work = { name: 'test.stopped', everyMs: 3_600_000, takesMs: 0, lock: 8 };
    const holder = new Client({ connectionString: db.url });
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock(8)');
    const all = await three(work);
    const first = await underWay(work.name);
    const stopping = all.find((child) => child.pid === first.pid);
    if (!stopping?.stdout) throw new Error('the run is of none of them');
    const told = once(stopping.stdout, 'data');
    stopping.kill('SIGTERM');
    // Before it knows, the lock's end would be the end of a whole run.
    await told;
    await holder.query('SELECT pg_advisory_unlock(8)');
    await holder.end();
    await waitFor('the end of it', async () => (await runs(work.name)).some((run) => run.told !== null));
    expect((await runs(work.name))[0]?.told).toBe('the process stops');
    // The turn is given back after the run has ended; without that, it would not be due for a minute.
    await waitFor('the turn', async () => {
      const [turn] = await db.database.query<{ due: boolean }>(
        `SELECT next_at <= clock_timestamp() AND lease_until <= clock_timestamp() AS due
           FROM periodic_turn WHERE name = $1`,
        [work.name],
      );
      // One that asks for the first time only now has taken it already.
      return turn?.due === true || (await runs(work.name)).length > 1;
    });
  });
});
