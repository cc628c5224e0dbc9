import { injectable } from 'inversify';
import type { Op } from '../../../core/db/op';

/** A document younger than this is on its way. */
export const graceSeconds = 20;

@injectable()
export class HostGenerationRepository {
  /** The next generation of a host's document. The row stays locked until the transaction ends, so documents are made one after the other. */
  async next(op: Op, hostId: string): Promise<number> {
    const rows: { generation: string }[] = await op.query(
      `INSERT INTO host_network_generation AS g (host_id, generation) VALUES ($1, 1)
       ON CONFLICT (host_id) DO UPDATE SET generation = g.generation + 1, changed_at = now() RETURNING generation`,
      [hostId],
    );
    return Number(rows[0]?.generation);
  }

  /** Remembers that the host is behind, for it may not report again. Whether a host with this generation missed a document that was made some time ago, and whether any of its ports is recorded as failed. */
  async standing(op: Op, hostId: string, generation: number, graceSeconds: number): Promise<{ behind: boolean; failures: boolean }> {
    const rows: { behind: boolean; failures: boolean }[] = await op.query(
      `WITH noted AS (
         UPDATE host_network_generation SET behind_at = CASE WHEN generation > $2 AND changed_at >= now() - $3::int * interval '1 second' THEN now() END WHERE host_id = $1 AND (generation > $2 OR behind_at IS NOT NULL))
       SELECT EXISTS (SELECT 1 FROM host_network_generation WHERE host_id = $1 AND generation > $2 AND changed_at < now() - $3::int * interval '1 second') AS behind,
         EXISTS (SELECT 1 FROM port WHERE host_id = $1 AND state = 'error') AS failures`,
      [hostId, generation, graceSeconds],
    );
    return rows[0] ?? { behind: false, failures: false };
  }

  /** Hosts that said after a document was made that they have an older one, and have had their time since. Each is given once per report. */
  async takeBehind(op: Op, graceSeconds: number): Promise<string[]> {
    const rows = await op.query<{ host_id: string }>(
      `UPDATE host_network_generation SET behind_at = NULL WHERE host_id IN (
         SELECT host_id FROM host_network_generation WHERE behind_at > changed_at AND changed_at < now() - $1::int * interval '1 second' ORDER BY host_id LIMIT 100 FOR UPDATE SKIP LOCKED)
       RETURNING host_id`,
      [graceSeconds],
    );
    return rows.map((row) => row.host_id);
  }
}
