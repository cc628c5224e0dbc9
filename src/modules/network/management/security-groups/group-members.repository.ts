import { injectable } from 'inversify';
import { atOnce } from '../../../../core/db/at-once';
import type { Op } from '../../../../core/db/rows/op';
import type { RuleDocument, SecurityGroupDocument } from '../../contract/security-group.document';

/** A group as a host needs it; `version` is not newer than what is read of it. */
export interface NeededGroup {
  id: string;
  version: number;
  rules: RuleDocument[];
}

/** Ports of an instance, one of them, or one by its id alone. */
export interface OfPorts {
  instanceId?: string | undefined;
  portId?: string | undefined;
}

/** Which ports are in which groups, and what hosts were told of it. */
@injectable()
export class GroupMembersRepository {
  /** Ports of instances come with their groups; those that are given, in one statement with the ports. */
  async join(op: Op, portId: string, groupIds: readonly string[]): Promise<void> {
    if (groupIds.length === 0) return;
    await op.query(
      'INSERT INTO port_security_group (port_id, group_id) SELECT $1, id FROM unnest($2::uuid[]) AS id ON CONFLICT DO NOTHING',
      [portId, groupIds],
    );
  }

  /** The port is in these groups and no others from here on. */
  async set(op: Op, portId: string, groupIds: readonly string[]): Promise<void> {
    await op.query('DELETE FROM port_security_group WHERE port_id = $1 AND NOT group_id = ANY($2::uuid[])', [
      portId,
      groupIds,
    ]);
    await this.join(op, portId, groupIds);
  }

  async ofPort(op: Op, portId: string): Promise<string[]> {
    const rows = await op.query<{ group_id: string }>(
      'SELECT group_id FROM port_security_group WHERE port_id = $1 ORDER BY group_id',
      [portId],
    );
    return rows.map((row) => row.group_id);
  }

  /** Groups of ports, by port; all that have any. */
  async ofPorts(op: Op, portIds: readonly string[]): Promise<Map<string, string[]>> {
    if (portIds.length === 0) return new Map();
    const rows = await op.query<{ id: string; groups: string[] }>(
      'SELECT port_id AS id, array_agg(group_id ORDER BY group_id) AS groups FROM port_security_group WHERE port_id = ANY($1::uuid[]) GROUP BY port_id',
      [portIds],
    );
    return new Map(rows.map(({ id, groups }) => [id, groups]));
  }

  /** These groups with their rules, and without rules those that the rules name; what is read first is the version. */
  async needed(op: Op, groupIds: readonly string[]): Promise<NeededGroup[]> {
    if (groupIds.length === 0) return [];
    return op.query(
      `SELECT g.id, g.version::float8 AS version, CASE WHEN NOT g.id = ANY($1::uuid[]) THEN '[]'::json ELSE coalesce((
           SELECT json_agg(json_build_object('direction', r.direction, 'ethertype', r.ethertype, 'protocol', r.protocol,
             'ports', CASE WHEN r.port_min IS NOT NULL THEN json_build_object('min', r.port_min, 'max', r.port_max) END,
             'icmp', CASE WHEN r.icmp_type IS NOT NULL THEN json_build_object('type', r.icmp_type, 'code', r.icmp_code) END,
             'cidr', r.remote_cidr, 'group', r.remote_group_id) ORDER BY r.id)
           FROM security_group_rule r WHERE r.group_id = g.id), '[]') END AS rules
         FROM security_group g
        WHERE g.id = ANY($1::uuid[]) OR g.id IN (SELECT r.remote_group_id FROM security_group_rule r WHERE r.group_id = ANY($1::uuid[])) ORDER BY g.id`,
      [groupIds],
    );
  }

  /** Addresses of the groups' members in the networks, by group. */
  async members(
    op: Op,
    groupIds: readonly string[],
    networkIds: readonly string[],
  ): Promise<Map<string, SecurityGroupDocument['members']>> {
    const members = new Map<string, SecurityGroupDocument['members']>();
    if (groupIds.length === 0) return members;
    const rows = await op.query<{ group: string; networkId: string; addresses: string[] }>(
      `SELECT s.group_id AS "group", p.network_id AS "networkId", array_agg(host(a.address) ORDER BY a.address) AS addresses
         FROM port_security_group s JOIN port p ON p.id = s.port_id JOIN port_address a ON a.port_id = p.id
        WHERE s.group_id = ANY($1::uuid[]) AND p.network_id = ANY($2::uuid[]) AND p.attached GROUP BY 1, 2 ORDER BY 1, 2`,
      [groupIds, networkIds],
    );
    for (const { group, ...of } of rows) members.set(group, [...(members.get(group) ?? []), of]);
    return members;
  }

  /** Which version of which group the host's documents say from this generation on; of no others any more. */
  async deliver(op: Op, hostId: string, generation: number, groups: readonly NeededGroup[]): Promise<void> {
    await op.query(
      `WITH told AS (SELECT * FROM jsonb_to_recordset($3::jsonb) AS t(id uuid, version bigint)),
         gone AS (DELETE FROM security_group_delivery WHERE host_id = $1 AND NOT group_id IN (SELECT id FROM told))
       INSERT INTO security_group_delivery AS d (host_id, group_id, version, generation) SELECT $1, id, version, $2 FROM told
       ON CONFLICT (host_id, group_id) DO UPDATE SET version = excluded.version, generation = excluded.generation WHERE d.version <> excluded.version`,
      [hostId, generation, JSON.stringify(groups.map(({ id, version }) => ({ id, version })))],
    );
  }

  /**
   * Groups of such ports, which are in documents or not, whose members some rule names; and the hosts of these ports.
   * From here on until the transaction ends the ports are in these groups.
   */
  async named(op: Op, of: OfPorts, attached: boolean): Promise<{ groups: string[]; hosts: string[] }> {
    const own = '($1::uuid IS NULL OR p.instance_id = $1) AND ($2::uuid IS NULL OR p.id = $2)';
    const ports = [of.instanceId ?? null, of.portId ?? null];
    if (ports.every((id) => id === null)) throw new Error('whose ports?');
    // One after the other: each sees what whoever held the ports, or the groups to name them in a rule, has left.
    const [, , rows] = await atOnce(
      op.query(`SELECT 1 FROM port p WHERE ${own} ORDER BY id FOR NO KEY UPDATE`, ports),
      op.query(
        `SELECT 1 FROM security_group WHERE id IN (SELECT s.group_id FROM port p JOIN port_security_group s ON s.port_id = p.id WHERE ${own}) ORDER BY id FOR NO KEY UPDATE`,
        ports,
      ),
      op.query<{ id: string; host: string }>(
        `SELECT DISTINCT s.group_id AS id, p.host_id AS host FROM port p JOIN port_security_group s ON s.port_id = p.id
          WHERE ${own} AND p.attached = $3 AND EXISTS (SELECT 1 FROM security_group_rule r WHERE r.remote_group_id = s.group_id)`,
        [...ports, attached],
      ),
    );
    return { groups: [...new Set(rows.map(({ id }) => id))], hosts: [...new Set(rows.map(({ host }) => host))] };
  }
}
