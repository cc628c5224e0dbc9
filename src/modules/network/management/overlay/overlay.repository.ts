import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { reachedNetworks } from '../routers/reached-networks';
import type { NetworkOverlay } from '../../contract/overlay-document';

/** Changes that one round passes on. */
const batch = 1_000;

interface Row {
  networkId: string;
  vni: number;
  own: string;
  mac: string | null;
  addresses: string[];
  host: string;
}

export interface DueHost {
  hostId: string;
  /** That was started for it last. */
  task: string | null;
}

/** Which ports are where, for those who share a network, and who is to hear of it. */
@injectable()
export class OverlayRepository {
  /**
   * For the document of a host: its own address, and what is on other hosts, for each of the networks and those that
   * routers lead to. Null when it takes no part.
   */
  async of(
    op: Op,
    hostId: string,
    networkIds: readonly string[],
  ): Promise<{ address: string; networks: Map<string, NetworkOverlay> } | null> {
    const rows = await op.query<Row>(
      `SELECT n.id AS "networkId", n.vni, host(own.address) AS own, p.mac, host(u.address) AS host,
           ARRAY(SELECT host(a.address) FROM port_address a WHERE a.port_id = p.id ORDER BY a.position) AS addresses
         FROM host_underlay own
         JOIN network n ON n.id IN (${reachedNetworks})
         LEFT JOIN (port p JOIN host_underlay u ON u.host_id = p.host_id AND u.usable) ON p.network_id = n.id AND p.attached AND p.host_id <> $2
        WHERE own.host_id = $2 AND own.usable ORDER BY n.id, p.mac`,
      [networkIds, hostId],
    );
    const [first] = rows;
    if (!first) return null;
    const networks = new Map<string, NetworkOverlay>();
    for (const { networkId, vni, mac, addresses, host } of rows) {
      const overlay = networks.get(networkId) ?? { vni, remotes: [] };
      networks.set(networkId, overlay);
      if (mac !== null) overlay.remotes.push({ mac, addresses, host });
    }
    return { address: first.own, networks };
  }

  /**
   * Passes changes of networks on to the other hosts that have ports of them, or of networks that a router joins with
   * them, but for those that another process passes on. They are due from then on: a document that was begun before may lack them.
   * @returns whether there may be more
   */
  async fold(op: Op): Promise<boolean> {
    const [row] = await op.query<{ taken: number }>(
      `WITH taken AS (
         DELETE FROM network_change WHERE id IN (SELECT id FROM network_change ORDER BY id LIMIT ${batch} FOR UPDATE SKIP LOCKED)
         RETURNING network_id, host_id),
       reached AS (
         SELECT network_id, host_id FROM taken UNION
         SELECT other.network_id, t.host_id FROM taken t JOIN router_interface one USING (network_id) JOIN router_interface other USING (router_id)),
       hosts AS (
         SELECT DISTINCT p.host_id FROM port p
           JOIN reached t ON t.network_id = p.network_id AND t.host_id <> p.host_id
           JOIN host_underlay u ON u.host_id = p.host_id AND u.usable
          WHERE p.attached),
       due AS (
         INSERT INTO host_network_due (host_id, since) SELECT host_id, clock_timestamp() FROM hosts ORDER BY 1
         ON CONFLICT (host_id) DO UPDATE SET since = clock_timestamp())
       SELECT count(*)::int AS taken FROM taken`,
    );
    return row?.taken === batch;
  }

  /**
   * Hosts that are behind a change of security groups are due too, unless a task is on its way that was started for it; a
   * minute later it counts as lost.
   */
  async foldBehind(op: Op): Promise<void> {
    await op.query(
      `INSERT INTO host_network_due AS d (host_id, since)
       SELECT host_id, clock_timestamp() FROM host_network_generation
        WHERE behind AND (asked_at IS NULL OR asked_at < now() - interval '60 seconds') ORDER BY 1
       ON CONFLICT (host_id) DO UPDATE SET since = excluded.since
        WHERE d.since < (SELECT g.changed_at FROM host_network_generation g WHERE g.host_id = excluded.host_id)`,
    );
  }

  /** Hosts that wait. Those that were given a document since, for whatever reason, wait no longer. */
  async due(op: Op): Promise<DueHost[]> {
    await op.query(
      `DELETE FROM host_network_due WHERE host_id IN (
         SELECT d.host_id FROM host_network_due d JOIN host_network_generation g ON g.host_id = d.host_id AND g.changed_at > d.since
          FOR UPDATE OF d SKIP LOCKED)`,
    );
    return op.query(
      `SELECT d.host_id AS "hostId", u.sync_task AS task FROM host_network_due d LEFT JOIN host_underlay u USING (host_id) ORDER BY d.since`,
    );
  }

  /** The host is due no longer; false when it was not. */
  async take(op: Op, hostId: string): Promise<boolean> {
    const rows = await op.query('DELETE FROM host_network_due WHERE host_id = $1 RETURNING host_id', [hostId]);
    return rows.length > 0;
  }

  /** The task that gives the host its document. */
  async started(op: Op, hostId: string, task: string): Promise<void> {
    await op.query('UPDATE host_underlay SET sync_task = $2 WHERE host_id = $1', [hostId, task]);
    await op.query('UPDATE host_network_generation SET asked_at = now() WHERE host_id = $1 AND behind', [hostId]);
  }
}
