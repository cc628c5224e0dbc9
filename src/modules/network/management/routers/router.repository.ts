import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import type { RouterDocument } from '../../contract/host-document';
import type { RouterEntity } from './router.entity';
import type { RouterInterfaceEntity } from './router-interface.entity';

@injectable()
export class RouterRepository {
  /** False when the project has one of this name. */
  async insert(op: Op, router: RouterEntity): Promise<boolean> {
    const rows = await op.query(
      `INSERT INTO router (id, project_id, name, description, snat, with_network_id, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT ON CONSTRAINT router_name_key DO NOTHING RETURNING id`,
      [
        router.id,
        router.projectId,
        router.name,
        router.description,
        router.snat,
        router.withNetworkId,
        router.createdAt,
      ],
    );
    return rows.length === 1;
  }

  async addInterface(op: Op, of: RouterInterfaceEntity): Promise<void> {
    await op.query('INSERT INTO router_interface (router_id, network_id, subnet_id, cidr) VALUES ($1, $2, $3, $4)', [
      of.routerId,
      of.networkId,
      of.subnetId,
      of.cidr,
    ]);
  }

  /** No subnet of the network is on a router any more; the router that was made with it is gone when it has no other. */
  async removeNetwork(op: Op, networkId: string): Promise<void> {
    await op.query('DELETE FROM router_interface WHERE network_id = $1', [networkId]);
    await op.query(
      'DELETE FROM router r WHERE with_network_id = $1 AND NOT EXISTS (SELECT 1 FROM router_interface WHERE router_id = r.id)',
      [networkId],
    );
  }

  /** The routers that these networks are on, with all of their interfaces. */
  async ofNetworks(op: Op, networkIds: readonly string[]): Promise<RouterDocument[]> {
    return op.query<RouterDocument>(
      `SELECT r.id, r.snat, json_agg(json_build_object('networkId', i.network_id, 'subnetId', i.subnet_id) ORDER BY i.subnet_id) AS interfaces
       FROM router r JOIN router_interface i ON i.router_id = r.id
       WHERE r.id IN (SELECT router_id FROM router_interface WHERE network_id = ANY($1)) GROUP BY r.id ORDER BY r.id`,
      [networkIds],
    );
  }
}
