import { injectable } from 'inversify';
import { atOnce } from '../../../../core/db/at-once';
import type { Op } from '../../../../core/db/rows/op';
import type { PortEntity } from './port.entity';

export type NewPort = Pick<
  PortEntity,
  'id' | 'projectId' | 'networkId' | 'instanceId' | 'hostId' | 'hostname' | 'position' | 'defaultRoute' | 'mac'
>;

/** The values of a new port's row, in the order of `newPort`. */
const valuesOf = (port: NewPort): unknown[] => [
  port.id,
  port.projectId,
  port.networkId,
  port.instanceId,
  port.hostId,
  port.hostname,
  port.position,
  port.mac,
  port.defaultRoute,
];
const newPort = (address: string, from: string): string => `
  INSERT INTO port (id, project_id, network_id, instance_id, host_id, hostname, position, mac, default_route, address, attached)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, ${address}, false ${from} ON CONFLICT DO NOTHING RETURNING id, address`;

/**
 * The first free address from `from` on: `from` itself or one behind a used one, that is neither used, cooling nor the
 * gateway.
 */
const firstFree = (from: string): string => `
  SELECT c.address FROM (
    SELECT ${from} AS address
    UNION ALL SELECT p.address + 1 FROM port_address p WHERE p.subnet_id = $10 AND p.address >= ${from}
    UNION ALL SELECT a.address + 1 FROM address_cooldown a WHERE a.subnet_id = $10 AND a.address >= ${from}
    UNION ALL SELECT s.gateway + 1
  ) c
  WHERE c.address >= ${from} AND c.address < s.last AND c.address <> s.gateway
    AND NOT EXISTS (SELECT 1 FROM port_address p WHERE p.subnet_id = $10 AND p.address = c.address)
    AND NOT EXISTS (SELECT 1 FROM address_cooldown a WHERE a.subnet_id = $10 AND a.address = c.address AND a.until > now())
  ORDER BY c.address LIMIT 1`;

/** Addresses as rows: the one place that gives them out and takes them back. */
@injectable()
export class AddressRepository {
  /**
   * Makes a port with the subnet's next free address, under the subnet's lock, which holds until the transaction ends. The
   * lock is a statement of its own, that leaves with the other one: what is looked at is seen once the lock is there, and a
   * statement that locked a row, waited and then changed it was seen to deadlock with another one.
   * @returns the address; `full` when there is none; `gone` when there is no such subnet; `again` when another port has the
   *   MAC
   */
  async allocate(op: Op, port: NewPort, subnetId: string): Promise<string | 'full' | 'gone' | 'again'> {
    const locked = op.query('SELECT 1 FROM subnet WHERE id = $1 FOR NO KEY UPDATE', [subnetId]);
    const made = op.query<{ picked: string | null; made: boolean; address: string | null }>(
      `WITH s AS MATERIALIZED (
         SELECT id, host(gateway)::inet AS gateway, host(next_address)::inet AS start,
           (host(network(cidr))::inet + 1) AS first, host(broadcast(cidr))::inet AS last
         FROM subnet WHERE id = $10
       ), pick AS (
         SELECT coalesce((${firstFree('s.start')}), (${firstFree('s.first')})) AS address, s.id, s.first, s.last FROM s
       ), made AS (${newPort('pick.address', 'FROM pick WHERE pick.address IS NOT NULL')}
       ), given AS (
         INSERT INTO port_address (port_id, subnet_id, address, position) SELECT made.id, $10, made.address, 0 FROM made
         ON CONFLICT DO NOTHING RETURNING address
       ), moved AS (
         UPDATE subnet SET next_address = CASE WHEN given.address + 1 < pick.last THEN given.address + 1 ELSE pick.first END
         FROM given, pick WHERE subnet.id = $10
       )
       SELECT host(pick.address) AS picked, EXISTS (SELECT 1 FROM made) AS made, (SELECT host(address) FROM given) AS address FROM pick`,
      [...valuesOf(port), subnetId],
    );
    const [, [row]] = await atOnce(locked, made);
    if (!row) return 'gone';
    if (row.picked === null) return 'full';
    if (row.made && row.address === null) await op.query('DELETE FROM port WHERE id = $1', [port.id]);
    return row.address ?? 'again';
  }

  /**
   * Makes a port with this address. The caller holds the subnet's lock and has looked whether it is free. False when
   * the MAC is taken.
   */
  async insert(op: Op, port: NewPort, subnetId: string, address: string): Promise<boolean> {
    const rows: unknown[] = await op.query(
      `WITH made AS (${newPort('$11::inet', '')})
       INSERT INTO port_address (port_id, subnet_id, address, position) SELECT id, $10, address, 0 FROM made RETURNING port_id`,
      [...valuesOf(port), subnetId, address],
    );
    return rows.length === 1;
  }

  /** Whether an address is given out, or for how many more seconds it cools down. */
  async availability(op: Op, subnetId: string, address: string): Promise<'free' | 'used' | { cooling: number }> {
    const rows: { used: boolean; cooling: number | null }[] = await op.query(
      `SELECT EXISTS (SELECT 1 FROM port_address WHERE subnet_id = $1 AND address = $2) AS used,
         (SELECT ceil(extract(epoch FROM until - now()))::int FROM address_cooldown WHERE subnet_id = $1 AND address = $2 AND until > now()) AS cooling`,
      [subnetId, address],
    );
    const row = rows[0];
    if (row?.used) return 'used';
    return row?.cooling == null ? 'free' : { cooling: row.cooling };
  }

  /** How many addresses of the subnets are used or cooling. */
  async taken(op: Op, subnetIds: readonly string[]): Promise<number> {
    const rows: { taken: number }[] = await op.query(
      `SELECT (SELECT count(*)::int FROM port_address WHERE subnet_id = ANY($1)) +
         (SELECT count(*)::int FROM address_cooldown a WHERE a.subnet_id = ANY($1) AND a.until > now()
            AND NOT EXISTS (SELECT 1 FROM port_address p WHERE p.subnet_id = a.subnet_id AND p.address = a.address)) AS taken`,
      [subnetIds],
    );
    return rows[0]?.taken ?? 0;
  }

  /**
   * Deletes the instance's ports, or this one of them; addresses cool down for so many seconds. Returns how many there
   * were.
   */
  async release(op: Op, instanceId: string, portId: string | null, cooldownSeconds: number): Promise<number> {
    const rows: { gone: number }[] = await op.query(
      `WITH freed AS (
         DELETE FROM port_address WHERE port_id IN (SELECT id FROM port WHERE instance_id = $1 AND ($3::uuid IS NULL OR id = $3))
         RETURNING subnet_id, address
       ), gone AS (
         DELETE FROM port WHERE instance_id = $1 AND ($3::uuid IS NULL OR id = $3) RETURNING id
       ), cooled AS (
         INSERT INTO address_cooldown (subnet_id, address, until)
         SELECT subnet_id, address, now() + $2::int * interval '1 second' FROM freed WHERE $2::int > 0
         ON CONFLICT (subnet_id, address) DO UPDATE SET until = excluded.until)
       SELECT count(*)::int AS gone FROM gone`,
      [instanceId, cooldownSeconds, portId],
    );
    return rows[0]?.gone ?? 0;
  }

  /** Forgets cooldowns of the networks that are over, but for those that somebody else forgets at the moment. */
  async sweep(op: Op, networkIds: readonly string[]): Promise<void> {
    await op.query(
      `DELETE FROM address_cooldown WHERE (subnet_id, address) IN (
         SELECT a.subnet_id, a.address FROM address_cooldown a JOIN subnet s ON s.id = a.subnet_id
          WHERE s.network_id = ANY($1) AND a.until <= now() FOR UPDATE OF a SKIP LOCKED)`,
      [networkIds],
    );
  }
}
