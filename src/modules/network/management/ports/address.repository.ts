import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import type { PortEntity } from './port.entity';

export type NewPort = Pick<
  PortEntity,
  'id' | 'projectId' | 'networkId' | 'instanceId' | 'hostId' | 'hostname' | 'position' | 'defaultRoute' | 'mac'
>;

/**
 * The first free address from `from` on: `from` itself or one behind a used one, that is neither used, cooling nor the
 * gateway.
 */
const firstFree = (from: string): string => `
  SELECT c.address FROM (
    SELECT ${from} AS address
    UNION ALL SELECT p.address + 1 FROM port p WHERE p.network_id = $3 AND p.address >= ${from}
    UNION ALL SELECT a.address + 1 FROM address_cooldown a WHERE a.network_id = $3 AND a.address >= ${from}
    UNION ALL SELECT n.gateway + 1
  ) c
  WHERE c.address >= ${from} AND c.address < n.last AND c.address <> n.gateway
    AND NOT EXISTS (SELECT 1 FROM port p WHERE p.network_id = $3 AND p.address = c.address)
    AND NOT EXISTS (SELECT 1 FROM address_cooldown a WHERE a.network_id = $3 AND a.address = c.address AND a.until > now())
  ORDER BY c.address LIMIT 1`;

/** Addresses as rows: the one place that gives them out and takes them back. */
@injectable()
export class AddressRepository {
  /**
   * Makes a port with the next free address, in one statement, which takes the network's lock until the transaction
   * ends.
   * @returns the address; `full` when there is none; `gone` when there is no such network; `again` when another port
   *   has the MAC, or got the address while this waited for the lock: under the lock the next attempt sees that port
   */
  async allocate(op: Op, port: NewPort): Promise<string | 'full' | 'gone' | 'again'> {
    const rows: { picked: string | null; address: string | null }[] = await op.query(
      `WITH n AS MATERIALIZED (
         SELECT id, host(gateway)::inet AS gateway, host(next_address)::inet AS start,
           (host(network(subnet))::inet + 1) AS first, host(broadcast(subnet))::inet AS last
         FROM network WHERE id = $3 FOR NO KEY UPDATE
       ), pick AS (
         SELECT coalesce((${firstFree('n.start')}), (${firstFree('n.first')})) AS address, n.id, n.first, n.last FROM n
       ), made AS (
         INSERT INTO port (id, project_id, network_id, instance_id, host_id, hostname, position, mac, default_route, address, attached)
         SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, pick.address, false FROM pick WHERE pick.address IS NOT NULL
         ON CONFLICT DO NOTHING RETURNING address
       ), moved AS (
         UPDATE network SET next_address = CASE WHEN made.address + 1 < pick.last THEN made.address + 1 ELSE pick.first END
         FROM made, pick WHERE network.id = $3
       )
       SELECT host(pick.address) AS picked, (SELECT host(address) FROM made) AS address FROM pick`,
      [
        port.id,
        port.projectId,
        port.networkId,
        port.instanceId,
        port.hostId,
        port.hostname,
        port.position,
        port.mac,
        port.defaultRoute,
      ],
    );
    const [row] = rows;
    if (!row) return 'gone';
    return row.picked === null ? 'full' : (row.address ?? 'again');
  }

  /**
   * Makes a port with this address. The caller holds the network's lock and has looked whether it is free. False when
   * the MAC is taken.
   */
  async insert(op: Op, port: NewPort, address: string): Promise<boolean> {
    const rows: unknown[] = await op.query(
      `INSERT INTO port (id, project_id, network_id, instance_id, host_id, hostname, position, mac, default_route, address, attached)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, false) ON CONFLICT ON CONSTRAINT port_mac_key DO NOTHING RETURNING id`,
      [
        port.id,
        port.projectId,
        port.networkId,
        port.instanceId,
        port.hostId,
        port.hostname,
        port.position,
        port.mac,
        port.defaultRoute,
        address,
      ],
    );
    return rows.length === 1;
  }

  /** Whether an address is given out, or for how many more seconds it cools down. */
  async availability(op: Op, networkId: string, address: string): Promise<'free' | 'used' | { cooling: number }> {
    const rows: { used: boolean; cooling: number | null }[] = await op.query(
      `SELECT EXISTS (SELECT 1 FROM port WHERE network_id = $1 AND address = $2) AS used,
         (SELECT ceil(extract(epoch FROM until - now()))::int FROM address_cooldown WHERE network_id = $1 AND address = $2 AND until > now()) AS cooling`,
      [networkId, address],
    );
    const row = rows[0];
    if (row?.used) return 'used';
    return row?.cooling == null ? 'free' : { cooling: row.cooling };
  }

  /** Used and cooling addresses of a network. */
  async taken(op: Op, networkId: string): Promise<{ used: number; cooling: number }> {
    const rows: { used: number; cooling: number }[] = await op.query(
      `SELECT (SELECT count(*)::int FROM port WHERE network_id = $1) AS used,
         (SELECT count(*)::int FROM address_cooldown a WHERE a.network_id = $1 AND a.until > now()
            AND NOT EXISTS (SELECT 1 FROM port p WHERE p.network_id = a.network_id AND p.address = a.address)) AS cooling`,
      [networkId],
    );
    return rows[0] ?? { used: 0, cooling: 0 };
  }

  /**
   * Deletes the instance's ports, or this one of them; addresses cool down for so many seconds. Returns how many there
   * were.
   */
  async release(op: Op, instanceId: string, portId: string | null, cooldownSeconds: number): Promise<number> {
    const rows: { gone: number }[] = await op.query(
      `WITH gone AS (DELETE FROM port WHERE instance_id = $1 AND ($3::uuid IS NULL OR id = $3) RETURNING network_id, address), cooled AS (
         INSERT INTO address_cooldown (network_id, address, until)
         SELECT network_id, address, now() + $2::int * interval '1 second' FROM gone WHERE $2::int > 0
         ON CONFLICT (network_id, address) DO UPDATE SET until = excluded.until)
       SELECT count(*)::int AS gone FROM gone`,
      [instanceId, cooldownSeconds, portId],
    );
    return rows[0]?.gone ?? 0;
  }

  /** Forgets cooldowns that are over, but for those that somebody else forgets at the moment. */
  async sweep(op: Op, networkId: string): Promise<void> {
    await op.query(
      `DELETE FROM address_cooldown WHERE (network_id, address) IN (
         SELECT network_id, address FROM address_cooldown WHERE network_id = $1 AND until <= now() FOR UPDATE SKIP LOCKED)`,
      [networkId],
    );
  }
}
