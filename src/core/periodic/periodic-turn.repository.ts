import { injectable } from 'inversify';
import { Database } from '../db/database';
import { ClusterTurns, type ClusterTurn } from './cluster-turns';

/** A work that was not ended by its process is not begun anew more often than so: it may be what ends processes. */
const retryMs = 60_000;
/** Clocks of one server do not differ; more than this beyond the longest that can be is a clock that was set back. */
const slackMs = 1_000;

/** The time of the statement, and its commit without waiting for the disk: a turn that a crash loses is taken anew. */
const clock = `clock AS (SELECT clock_timestamp() AS t, set_config('synchronous_commit', 'off', true))`;
const ms = (parameter: string): string => `${parameter}::float8 * interval '1 millisecond'`;

/**
 * Turns as rows. All times are the database's, so that the clocks of the processes do not matter; a clock of the
 * database that was set back is noticed by times that lie further ahead than they can, and these are brought near.
 */
@injectable()
export class PeriodicTurnRepository extends ClusterTurns {
  constructor(private readonly database: Database) {
    super();
  }

  override async take(name: string, everyMs: number, leaseMs: number): Promise<ClusterTurn | { waitMs: number }> {
    // The next run stands already: it comes when this one is never ended.
    const taken = await this.database.query<{ fence: string }>(
      `WITH ${clock} UPDATE periodic_turn
          SET fence = fence + 1, lease_until = t + ${ms('$2')}, next_at = t + ${ms('$3')} FROM clock
        WHERE name = $1 AND next_at <= t AND lease_until <= t RETURNING fence::text AS fence`,
      [name, leaseMs, Math.min(everyMs, retryMs)],
    );
    if (taken[0]) return taken[0];
    const [row] = await this.database.query<{ next: number; lease: number }>(
      `SELECT extract(epoch FROM next_at - clock_timestamp())::float8 * 1000 AS next,
              extract(epoch FROM lease_until - clock_timestamp())::float8 * 1000 AS lease
         FROM periodic_turn WHERE name = $1`,
      [name],
    );
    if (!row) {
      await this.database.query(`INSERT INTO periodic_turn (name) VALUES ($1) ON CONFLICT DO NOTHING`, [name]);
      return { waitMs: 0 };
    }
    const latest = Math.max(everyMs, retryMs);
    if (row.next > latest + slackMs || row.lease > leaseMs + slackMs) await this.bringNear(name, everyMs, leaseMs);
    return { waitMs: Math.max(Math.min(row.next, everyMs), Math.min(row.lease, leaseMs), 0) };
  }

  override async renew(name: string, turn: ClusterTurn, leaseMs: number): Promise<boolean> {
    const rows = await this.database.query(
      `WITH ${clock} UPDATE periodic_turn SET lease_until = t + ${ms('$3')} FROM clock
        WHERE name = $1 AND fence = $2 RETURNING name`,
      [name, turn.fence, leaseMs],
    );
    return rows.length > 0;
  }

  override async end(name: string, turn: ClusterTurn, pauseMs: number): Promise<void> {
    await this.database.query(
      `WITH ${clock} UPDATE periodic_turn SET lease_until = t, next_at = t + ${ms('$3')} FROM clock
        WHERE name = $1 AND fence = $2`,
      [name, turn.fence, pauseMs],
    );
  }

  private async bringNear(name: string, everyMs: number, leaseMs: number): Promise<void> {
    await this.database.query(
      `WITH ${clock} UPDATE periodic_turn
          SET next_at = least(next_at, t + ${ms('$2')}), lease_until = least(lease_until, t + ${ms('$3')}) FROM clock
        WHERE name = $1`,
      [name, everyMs, leaseMs],
    );
  }
}
