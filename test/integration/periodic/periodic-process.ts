import { pino } from 'pino';
import { createDataSource } from '../../../src/core/db/data-source';
import { Database } from '../../../src/core/db/database';
import { PeriodicMetrics } from '../../../src/core/periodic/periodic-metrics';
import { PeriodicTurnRepository } from '../../../src/core/periodic/periodic-turn.repository';
import { Periodic } from '../../../src/core/periodic/periodic.service';
import { Logging } from '../../../src/core/telemetry/logging';
import { Metrics } from '../../../src/core/telemetry/metrics';

/** As the test names them. */
export interface TestWork {
  name: string;
  everyMs: number;
  /** How long a run takes, milliseconds. */
  takesMs: number;
  /** The run does not end before the test lets go of this advisory lock. */
  lock: number | null;
}

/**
 * A process with a cluster's periodic work, each run of which it records: `periodic-process.ts <database> <lease
 * milliseconds> <works as JSON>`.
 */
const main = async (): Promise<void> => {
  const [url = '', leaseMs = '', works = '[]'] = process.argv.slice(2);
  const source = createDataSource(url, { pool: 8, entities: [], migrations: [] });
  await source.initialize();
  const database = new Database(source);
  const logging = new Logging(pino({ level: 'error' }, pino.destination(2)));
  const periodic = new Periodic(new PeriodicMetrics(new Metrics()), logging, new PeriodicTurnRepository(database));
  periodic.leaseMs = Number(leaseMs);
  const run = async ({ name, takesMs, lock }: TestWork, signal: AbortSignal): Promise<void> => {
    const [row] = await database.query<{ id: string }>(
      'INSERT INTO run_log (work, pid) VALUES ($1, $2) RETURNING id::text',
      [name, process.pid],
    );
    if (takesMs > 0) await new Promise((resolve) => setTimeout(resolve, takesMs));
    if (lock !== null) await database.query('SELECT pg_advisory_xact_lock_shared($1)', [lock]);
    await database.query('UPDATE run_log SET ended_at = clock_timestamp(), told = $2 WHERE id = $1', [
      row?.id,
      signal.aborted ? (signal.reason as Error).message : null,
    ]);
  };
  periodic.register([
    {
      periodicWork: () =>
        (JSON.parse(works) as TestWork[]).map((work) => ({
          name: work.name,
          everyMs: work.everyMs,
          scope: 'cluster',
          deadlineMs: 60_000,
          run: (signal) => run(work, signal),
        })),
    },
  ]);
  await periodic.start();
  process.on('SIGTERM', () => {
    const stopped = periodic.stop();
    process.stdout.write('stopping\n');
    void stopped.then(() => database.close()).then(() => process.exit(0));
  });
  process.stdout.write('ready\n');
};

void main();
