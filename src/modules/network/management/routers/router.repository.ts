import { injectable } from 'inversify';
import type { z } from 'zod';
import { Conditions } from '../../../../core/db/rows/conditions';
import { keysetPage, newestFirst, rowsInOrder, sqlOf } from '../../../../core/db/rows/keyset';
import type { Op } from '../../../../core/db/rows/op';
import { removeRows, updateRow } from '../../../../core/db/rows/rows';
import { violatedExclusion, violatedUnique } from '../../../../core/db/sql-state';
import type { InUseBy } from '../../../../core/errors/in-use';
import { conflict, nameTaken } from '../../../../core/errors/problem';
import type { RouterDocument } from '../../contract/host-document';
import type { routerListQuery } from '../../contract/router.api';
import { RouterEntity } from './router.entity';
import type { RouterInterfaceEntity } from './router-interface.entity';

/** A subnet on a router, as it is shown with it. */
interface JoinedSubnet {
  id: string;
  name: string;
  cidr: string;
  networkId: string;
  network: string;
}
export type ShownRouter = RouterEntity & { subnets: JoinedSubnet[] };

const shown = {
  alias: 'r',
  also: {
    subnets: sqlOf<JoinedSubnet[]>(
      `(SELECT coalesce(json_agg(json_build_object('id', s.id, 'name', s.name, 'cidr', s.cidr, 'networkId', n.id, 'network', n.name) ORDER BY n.name, s.cidr), '[]')
         FROM router_interface i JOIN subnet s ON s.id = i.subnet_id JOIN network n ON n.id = i.network_id WHERE i.router_id = r.id)`,
    ),
  },
};

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

  /**
   * The subnet is on the router. Throws 409 `subnet_has_router`, `network_has_router` when another subnet of its network is
   * on another one, `subnet_overlaps` when it does with one that is on the router; the transaction is lost then.
   */
  async addInterface(op: Op, of: RouterInterfaceEntity): Promise<void> {
    await op
      .query('INSERT INTO router_interface (router_id, network_id, subnet_id, cidr) VALUES ($1, $2, $3, $4)', [
        of.routerId,
        of.networkId,
        of.subnetId,
        of.cidr,
      ])
      .catch((error: unknown) => {
        if (violatedUnique(error) === 'router_interface_pkey')
          throw conflict(
            'subnet_has_router',
            `The subnet ${of.cidr} is on a router already. Take it off that one first.`,
          );
        const excluded = violatedExclusion(error);
        if (excluded === 'router_interface_network')
          throw conflict(
            'network_has_router',
            'Another subnet of its network is on another router. Subnets of one network are on one router.',
          );
        if (excluded === 'router_interface_overlap')
          throw conflict('subnet_overlaps', `${of.cidr} overlaps a subnet that is on the router.`);
        throw error;
      });
  }

  /** The subnet is on no router. */
  async removeInterface(op: Op, subnetId: string): Promise<void> {
    await op.query('DELETE FROM router_interface WHERE subnet_id = $1', [subnetId]);
  }

  /** Its row locked, so that nobody deletes it meanwhile. False when it is gone. */
  async hold(op: Op, id: string): Promise<boolean> {
    return (await op.query('SELECT 1 FROM router WHERE id = $1 FOR UPDATE', [id])).length === 1;
  }

  /** As it is shown, in one statement. */
  async shown(op: Op, id: string): Promise<ShownRouter | null> {
    const found = new Conditions().equal('r.id', id);
    return (await rowsInOrder(op, RouterEntity, found, { ...shown, order: 'r.id', limit: 1 }))[0] ?? null;
  }

  shownNamed(op: Op, projects: 'all' | readonly string[], name: string): Promise<ShownRouter[]> {
    const found = new Conditions().within('r.project_id', projects).equal('r.name', name);
    return rowsInOrder(op, RouterEntity, found, { ...shown, order: 'r.id', limit: 2 });
  }

  list(
    op: Op,
    projects: 'all' | readonly string[],
    query: z.output<typeof routerListQuery>,
  ): Promise<{ rows: ShownRouter[]; next: string | null }> {
    const found = new Conditions()
      .within('r.project_id', projects)
      .equal('r.name', query.name)
      .search(query.q, { ids: ['r.id'], texts: ['r.name'] });
    return keysetPage(op, RouterEntity, found, { ...newestFirst, ...shown, limit: query.limit, cursor: query.cursor });
  }

  /** Throws 409 `name_taken`; the transaction is lost then. */
  async update(
    op: Op,
    id: string,
    changes: Partial<Pick<RouterEntity, 'name' | 'description' | 'snat'>>,
  ): Promise<void> {
    await updateRow(op, RouterEntity, id, changes).catch((error: unknown) => {
      throw violatedUnique(error) === 'router_name_key' ? nameTaken('router', changes.name ?? '') : error;
    });
  }

  async remove(op: Op, id: string): Promise<void> {
    await removeRows(op, RouterEntity, { id });
  }

  /** Those of the project that do not go with a network: how many, and the first by name. */
  async ofProject(op: Op, projectId: string, limit: number): Promise<{ count: number; first: InUseBy[] }> {
    const rows = await op.query<{ id: string; name: string; count: number }>(
      `SELECT r.id, r.name, (count(*) OVER ())::int AS count FROM router r
       WHERE r.project_id = $1 AND NOT EXISTS (SELECT 1 FROM network n WHERE n.id = r.with_network_id) ORDER BY r.name LIMIT $2`,
      [projectId, limit],
    );
    return { count: rows[0]?.count ?? 0, first: rows.map(({ id, name }) => ({ kind: 'router', id, name })) };
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
