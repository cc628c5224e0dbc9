import { injectable } from 'inversify';
import { Conditions } from '../../../../core/db/rows/conditions';
import { keysetPage, newestFirst, rowsInOrder, type Sql, sqlOf } from '../../../../core/db/rows/keyset';
import { countRows, findRows } from '../../../../core/db/rows/rows';
import type { z } from 'zod';
import type { Op } from '../../../../core/db/rows/op';
import { plannedForValues } from '../../../../core/db/preparing-client';
import { searchCondition } from '../../../../core/db/rows/search';
import type { portListQuery } from '../../contract/network.api';
import type { InstancePort } from '../../contract/network.ports';
import { reachedNetworks } from '../routers/reached-networks';
import { PortEntity } from './port.entity';

export interface PortState {
  id: string;
  state: 'active' | 'error';
  message: string;
}

export type ShownPort = PortEntity & { network: string; groups: { id: string; name: string }[] };

/** What is read of ports that are shown. */
const shown = {
  alias: 'p',
  also: {
    network: sqlOf<string>('(SELECT name FROM network WHERE id = p.network_id)'),
    groups: sqlOf<{ id: string; name: string }[]>(
      `(SELECT coalesce(json_agg(json_build_object('id', g.id, 'name', g.name) ORDER BY g.name, g.id), '[]') FROM port_security_group s JOIN security_group g ON g.id = s.group_id WHERE s.port_id = p.id)`,
    ),
  },
};

@injectable()
export class PortRepository {
  ofInstances(op: Op, instanceIds: readonly string[]): Promise<PortEntity[]> {
    return instanceIds.length === 0
      ? Promise.resolve([])
      : findRows(op, PortEntity, { instanceId: instanceIds }, { order: 'position' });
  }

  /** What is shown of instances' ports. */
  async shown(op: Op, instanceIds: readonly string[]): Promise<{ instanceId: string; ports: InstancePort[] }[]> {
    return instanceIds.length === 0
      ? []
      : op.query(
          `SELECT asked.id AS "instanceId", ${this.shownOf('asked.id')} AS ports FROM unnest($1::uuid[]) AS asked(id)`,
          [instanceIds],
        );
  }

  /** SQL for the same of one instance. The server's own makers of JSON take several times as long. */
  shownOf(instanceId: string): Sql<InstancePort[]> {
    return `('[' || (SELECT coalesce(string_agg(format('{"id":"%s","networkId":"%s","network":%s,"mac":"%s","address":"%s"}', p.id, p.network_id, to_json(n.name), p.mac, p.address), ',' ORDER BY p.position), '')
             FROM port p JOIN network n ON n.id = p.network_id WHERE p.instance_id = ${instanceId}) || ']')::json`;
  }

  /** Those that are in its document. */
  attachedTo(op: Op, hostId: string): Promise<PortEntity[]> {
    return findRows(op, PortEntity, { hostId, attached: true }, { order: 'id' });
  }

  /** The addresses of those that are in its document, in each port's order. */
  addressesAt(op: Op, hostId: string): Promise<{ portId: string; subnetId: string; address: string }[]> {
    return op.query(
      `SELECT a.port_id AS "portId", a.subnet_id AS "subnetId", host(a.address) AS address
       FROM port_address a JOIN port p ON p.id = a.port_id WHERE p.host_id = $1 AND p.attached ORDER BY a.port_id, a.position`,
      [hostId],
    );
  }

  /** From here on the instance's ports are in their host's document. */
  async attach(op: Op, instanceId: string): Promise<void> {
    await op.query('UPDATE port SET attached = true WHERE instance_id = $1 AND NOT attached', [instanceId]);
  }

  /** From here on the port is in no document. */
  async detach(op: Op, portId: string): Promise<void> {
    await op.query('UPDATE port SET attached = false WHERE id = $1 AND attached', [portId]);
  }

  /** Instances on a network, at most `limit`. */
  async users(op: Op, networkId: string, limit: number): Promise<{ id: string; hostname: string }[]> {
    return op.query(
      'SELECT instance_id AS id, min(hostname) AS hostname FROM port WHERE network_id = $1 GROUP BY instance_id ORDER BY 2, 1 LIMIT $2',
      [networkId, limit],
    );
  }

  /** Hosts with a port in one of these networks, or in one that a router joins them with. */
  async hostsReached(op: Op, networkIds: readonly string[]): Promise<string[]> {
    const rows: { host_id: string }[] = await op.query(
      `SELECT DISTINCT host_id FROM port WHERE network_id IN (${reachedNetworks}) ORDER BY host_id`,
      [networkIds],
    );
    return rows.map((r) => r.host_id);
  }

  count(op: Op, projectId: string): Promise<number> {
    return countRows(op, PortEntity, { projectId });
  }

  /** As it is shown. */
  async oneShown(op: Op, id: string): Promise<ShownPort | null> {
    const found = new Conditions().equal('p.id', id);
    return (await rowsInOrder(op, PortEntity, found, { ...shown, order: 'p.id', limit: 1 }))[0] ?? null;
  }

  list(
    op: Op,
    projects: 'all' | readonly string[],
    query: z.output<typeof portListQuery>,
  ): Promise<{ rows: ShownPort[]; next: string | null }> {
    const found = new Conditions()
      .within('p.project_id', projects)
      .equal('p.network_id', query.network)
      .equal('p.instance_id', query.instance)
      .search(query.q, {
        ids: ['p.id', 'p.instance_id'],
        texts: ['p.hostname'],
        addresses: ['p.address'],
        macs: ['p.mac'],
      });
    if (query.securityGroup !== undefined)
      found.add(
        `EXISTS (SELECT 1 FROM port_security_group s WHERE s.port_id = p.id AND s.group_id = ${found.bind(query.securityGroup)})`,
      );
    return keysetPage(op, PortEntity, found, {
      ...newestFirst,
      ...shown,
      limit: query.limit,
      cursor: query.cursor,
    });
  }

  /** Instances with a port whose address or MAC begins so. */
  async instancesAt(op: Op, projects: 'all' | readonly string[], q: string, limit: number): Promise<string[]> {
    const params: unknown[] = [];
    const bind = (value: unknown): string => `$${params.push(value)}`;
    const found = searchCondition(q, { ids: [], addresses: ['p.address'], macs: ['p.mac'] }, bind);
    const own = projects === 'all' ? 'true' : `p.project_id = ANY(${bind(projects)}::uuid[])`;
    const rows = await op.query<{ instance_id: string }>(
      `${plannedForValues}SELECT DISTINCT p.instance_id FROM port p WHERE ${found} AND ${own} LIMIT ${bind(limit)}`,
      params,
    );
    return rows.map((row) => row.instance_id);
  }

  /** Waits for nobody but holders of this instance's own ports. */
  async setStates(op: Op, instanceId: string, states: readonly PortState[]): Promise<void> {
    await op.query(
      `UPDATE port p SET state = s.state, message = s.message FROM jsonb_to_recordset($2::jsonb) AS s(id uuid, state text, message text)
       WHERE p.id = s.id AND p.instance_id = $1 AND (p.state, p.message) IS DISTINCT FROM (s.state, s.message)`,
      [instanceId, JSON.stringify(states)],
    );
  }

  /**
   * For ports of others: rows that somebody is at work on are left to them, so that no two reports wait for each other.
   */
  async setOtherStates(op: Op, states: readonly PortState[]): Promise<void> {
    await op.query(
      `UPDATE port p SET state = s.state, message = s.message FROM (
         SELECT q.id, r.state, r.message FROM port q JOIN jsonb_to_recordset($1::jsonb) AS r(id uuid, state text, message text) ON r.id = q.id
         WHERE (q.state, q.message) IS DISTINCT FROM (r.state, r.message) FOR UPDATE OF q SKIP LOCKED) s
       WHERE p.id = s.id`,
      [JSON.stringify(states)],
    );
  }

  /** What a host reports of ports that do not work; those that had failed and are not named any more work again. */
  async observeFailed(op: Op, hostId: string, failed: readonly { id: string; message: string }[]): Promise<void> {
    await op.query(
      `UPDATE port p SET state = s.state, message = s.message FROM (
         SELECT q.id, CASE WHEN r.id IS NULL THEN 'active' ELSE 'error' END AS state, coalesce(r.message, '') AS message
         FROM port q LEFT JOIN jsonb_to_recordset($2::jsonb) AS r(id uuid, message text) ON r.id = q.id
         WHERE q.host_id = $1 AND ((r.id IS NOT NULL AND (q.state, q.message) IS DISTINCT FROM ('error', r.message)) OR (r.id IS NULL AND q.state = 'error'))
         FOR UPDATE OF q SKIP LOCKED) s
       WHERE p.id = s.id`,
      [hostId, JSON.stringify(failed)],
    );
  }
}
