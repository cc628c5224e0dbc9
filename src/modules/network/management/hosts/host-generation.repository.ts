import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';

/** A document younger than this is on its way. */
const graceSeconds = 20;
/** What a host was given because it was behind is tried again by its own task; only then another one is started. */
const askAgainSeconds = 60;

@injectable()
export class HostGenerationRepository {
  /**
   * The next generation of a host's document. The row stays locked until the transaction ends, so documents are made
   * one after the other.
   * @param egressDigest of what the document says of guests' way out
   * @returns `crosses`: networks cross to the host from others
   */
  async next(op: Op, hostId: string, egressDigest: string): Promise<{ generation: number; crosses: boolean }> {
    const rows: { generation: string; crosses: boolean }[] = await op.query(
      `INSERT INTO host_network_generation AS g (host_id, generation, egress_digest) VALUES ($1, 1, $2)
       ON CONFLICT (host_id) DO UPDATE SET generation = g.generation + 1, egress_digest = $2, changed_at = now(), behind = false
       RETURNING generation, EXISTS (SELECT 1 FROM host_underlay u WHERE u.host_id = $1 AND u.usable) AS crosses`,
      [hostId, egressDigest],
    );
    return { generation: Number(rows[0]?.generation), crosses: rows[0]?.crosses === true };
  }

  /**
   * Records what the host says it has. Whether any of its ports is recorded as failed, and whether it has an address over
   * which networks cross.
   */
  async report(op: Op, hostId: string, generation: number): Promise<{ failures: boolean; underlay: boolean }> {
    const rows: { failures: boolean; underlay: boolean }[] = await op.query(
      `WITH noted AS (UPDATE host_network_generation SET reported = $2 WHERE host_id = $1 AND reported IS DISTINCT FROM $2)
       SELECT EXISTS (SELECT 1 FROM port WHERE host_id = $1 AND state = 'error') AS failures,
         EXISTS (SELECT 1 FROM host_underlay WHERE host_id = $1 AND address IS NOT NULL) AS underlay`,
      [hostId, generation],
    );
    return rows[0] ?? { failures: false, underlay: false };
  }

  /**
   * Those of the hosts that have an older document than the newest, which has had its time, or one with another way
   * out. Each is given once a minute at most.
   */
  async takeStale(op: Op, hostIds: readonly string[], egressDigest: string): Promise<string[]> {
    const rows = await op.query<{ host_id: string }>(
      `UPDATE host_network_generation SET asked_at = now() WHERE host_id IN (
         SELECT host_id FROM host_network_generation
          WHERE host_id = ANY($1::uuid[]) AND (egress_digest IS DISTINCT FROM $4 OR (generation > coalesce(reported, -1) AND changed_at < now() - $2::int * interval '1 second'))
            AND (asked_at IS NULL OR asked_at < now() - $3::int * interval '1 second') ORDER BY host_id LIMIT 100 FOR UPDATE SKIP LOCKED)
       RETURNING host_id`,
      [hostIds, graceSeconds, askAgainSeconds, egressDigest],
    );
    return rows.map((row) => row.host_id);
  }
}
