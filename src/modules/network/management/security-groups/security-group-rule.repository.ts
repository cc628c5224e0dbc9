import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { findRow, removeRows } from '../../../../core/db/rows/rows';
import { SecurityGroupRuleEntity } from './security-group-rule.entity';

export type ShownRule = SecurityGroupRuleEntity & { remoteGroup: string | null };

@injectable()
export class SecurityGroupRuleRepository {
  byId(op: Op, id: string): Promise<SecurityGroupRuleEntity | null> {
    return findRow(op, SecurityGroupRuleEntity, { id });
  }

  /** Of a group, oldest first, with the name of the group at the other end. */
  async of(op: Op, groupId: string): Promise<ShownRule[]> {
    return op.query(
      `SELECT r.id, r.group_id AS "groupId", r.direction, r.ethertype, r.protocol, r.port_min AS "portMin", r.port_max AS "portMax",
              r.icmp_type AS "icmpType", r.icmp_code AS "icmpCode", r.remote_cidr AS "remoteCidr", r.remote_group_id AS "remoteGroupId",
              r.description, r.created_at AS "createdAt", o.name AS "remoteGroup"
         FROM security_group_rule r LEFT JOIN security_group o ON o.id = r.remote_group_id
        WHERE r.group_id = $1 ORDER BY r.created_at, r.id`,
      [groupId],
    );
  }

  async count(op: Op, groupId: string): Promise<number> {
    const [row] = await op.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM security_group_rule WHERE group_id = $1',
      [groupId],
    );
    return row?.count ?? 0;
  }

  /** False when the group has one that says the same. */
  async insert(op: Op, rule: SecurityGroupRuleEntity): Promise<boolean> {
    const rows: unknown[] = await op.query(
      `INSERT INTO security_group_rule (id, group_id, direction, ethertype, protocol, port_min, port_max, icmp_type, icmp_code, remote_cidr, remote_group_id, description, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT ON CONSTRAINT security_group_rule_key DO NOTHING RETURNING id`,
      [
        rule.id,
        rule.groupId,
        rule.direction,
        rule.ethertype,
        rule.protocol,
        rule.portMin,
        rule.portMax,
        rule.icmpType,
        rule.icmpCode,
        rule.remoteCidr,
        rule.remoteGroupId,
        rule.description,
        rule.createdAt,
      ],
    );
    return rows.length === 1;
  }

  async remove(op: Op, id: string): Promise<void> {
    await removeRows(op, SecurityGroupRuleEntity, { id });
  }
}
