import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Lab } from './lab';

/** How long the idle server is looked at. Milliseconds. */
const idleMs = 5_000;
const slot = 'bench_commits';

/**
 * Counts what is committed to the disk while something is done, by the server's write-ahead log: one record for each
 * transaction that has written. What goes on at the same rate without it (heartbeats, periodic work) is taken off. The
 * server's own counters would not do: they count reads too, and are up to ten seconds late.
 */
export class CommitCounter {
  private constructor(
    private readonly client: Client,
    private readonly idlePerMs: number,
  ) {}

  /** Looks at the server for five seconds, in which nothing else may be done. Until the end of the figure. */
  static async open(lab: Lab): Promise<CommitCounter> {
    const client = await lab.postgres.superuser();
    lab.defer(async () => {
      await client.query('SELECT pg_drop_replication_slot($1)', [slot]).finally(() => client.end());
    });
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_walinspect');
    // What was written since stays until it has been counted.
    await client.query('SELECT pg_create_physical_replication_slot($1, true)', [slot]);
    const from = performance.now();
    const idle = await new CommitCounter(client, 0).during(() => delay(idleMs));
    return new CommitCounter(client, idle / (performance.now() - from));
  }

  async during(work: () => Promise<unknown>): Promise<number> {
    const begun = performance.now();
    const from = await this.position();
    await work();
    const to = await this.position();
    const elapsed = performance.now() - begun;
    const { rows } = await this.client.query<{ commits: string }>(
      `SELECT coalesce(sum(count), 0)::text AS commits FROM pg_get_wal_stats($1, $2, true)
        WHERE "resource_manager/record_type" LIKE 'Transaction/COMMIT%'`,
      [from, to],
    );
    return Math.max(0, Number(rows[0]?.commits) - this.idlePerMs * elapsed);
  }

  private async position(): Promise<string> {
    const { rows } = await this.client.query<{ at: string }>('SELECT pg_current_wal_flush_lsn()::text AS at');
    return rows[0]?.at ?? '';
  }
}
