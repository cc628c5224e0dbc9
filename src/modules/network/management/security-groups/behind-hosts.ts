import { injectable } from 'inversify';
import { atOnce } from '../../../../core/db/at-once';
import type { Op } from '../../../../core/db/rows/op';
import { SecurityGroupRepository, hostsConcerned } from './security-group.repository';

/**
 * Hosts whose next document says something that the one before did not. `OverlaySync` gives it to them: each one,
 * however many changes there were until it is made.
 */
@injectable()
export class BehindHosts {
  constructor(private readonly groups: SecurityGroupRepository) {}

  /**
   * Rules or members of the groups have changed, or will until the transaction ends. Locks groups, then hosts, each in
   * one order for all: `document` of a host comes after it.
   * @param hosts that are concerned too
   */
  async mark(op: Op, groupIds: readonly string[], hosts: readonly string[] = []): Promise<void> {
    await this.groups.grow(op, groupIds);
    // As with the groups, locks come first.
    const held = await op.query<{ host_id: string }>(
      `SELECT host_id FROM host_network_generation
        WHERE host_id IN (SELECT c.host_id FROM unnest($1::uuid[]) AS changed(id) CROSS JOIN LATERAL (${hostsConcerned('changed.id')}) AS c)
           OR host_id = ANY($2::uuid[]) ORDER BY host_id FOR UPDATE`,
      [groupIds, hosts],
    );
    if (held.length === 0) return;
    await atOnce(
      op.query(
        `UPDATE host_network_generation SET behind = true, asked_at = CASE WHEN behind THEN asked_at END WHERE host_id = ANY($1::uuid[])`,
        [held.map((row) => row.host_id)],
      ),
      op.query(`SELECT pg_notify('network_change', '')`),
    );
  }
}
