import { injectable } from 'inversify';
import type { z } from 'zod';
import { Conditions } from '../../../../core/db/rows/conditions';
import { keysetPage, newestFirst, rowsInOrder, sqlOf } from '../../../../core/db/rows/keyset';
import type { Op } from '../../../../core/db/rows/op';
import { findRows, removeRows, updateRow } from '../../../../core/db/rows/rows';
import { violatedExclusion, violatedUnique } from '../../../../core/db/sql-state';
import type { InUseBy } from '../../../../core/errors/in-use';
import { conflict, nameTaken } from '../../../../core/errors/problem';
import type { subnetListQuery } from '../../contract/subnet.api';
import { reachedNetworks } from '../routers/reached-networks';
import { SubnetEntity } from './subnet.entity';

/** As it is shown; `used`: its addresses that ports have. */
export type ShownSubnet = SubnetEntity & {
  network: string;
  router: { id: string; name: string } | null;
  used: number;
};

const shown = {
  alias: 's',
  also: {
    network: sqlOf<string>('(SELECT name FROM network WHERE id = s.network_id)'),
    router: sqlOf<ShownSubnet['router']>(
      `(SELECT json_build_object('id', r.id, 'name', r.name) FROM router_interface i JOIN router r ON r.id = i.router_id WHERE i.subnet_id = s.id)`,
    ),
    used: sqlOf<number>('(SELECT count(*)::int FROM port_address WHERE subnet_id = s.id)'),
  },
};

@injectable()
export class SubnetRepository {
  /**
   * The network's new subnet. Throws 409 `name_taken`, `subnet_overlaps` when it does with another one of the network; the
   * transaction is lost then.
   */
  async insert(op: Op, subnet: SubnetEntity): Promise<void> {
    const query = op.query(
      `INSERT INTO subnet (id, project_id, network_id, name, cidr, gateway, dns, next_address, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        subnet.id,
        subnet.projectId,
        subnet.networkId,
        subnet.name,
        subnet.cidr,
        subnet.gateway,
        subnet.dns,
        subnet.nextAddress,
        subnet.createdAt,
      ],
    );
    await query.catch((error: unknown) => {
      if (violatedExclusion(error) === 'subnet_overlap')
        throw conflict('subnet_overlaps', `${subnet.cidr} overlaps another subnet of the network.`);
      throw violatedUnique(error) === 'subnet_name_key' ? nameTaken('subnet', subnet.name) : error;
    });
  }

  /** As it is shown, in one statement. */
  async shown(op: Op, id: string): Promise<ShownSubnet | null> {
    const found = new Conditions().equal('s.id', id);
    return (await rowsInOrder(op, SubnetEntity, found, { ...shown, order: 's.id', limit: 1 }))[0] ?? null;
  }

  shownNamed(op: Op, projects: 'all' | readonly string[], name: string): Promise<ShownSubnet[]> {
    const found = new Conditions().within('s.project_id', projects).equal('s.name', name);
    return rowsInOrder(op, SubnetEntity, found, { ...shown, order: 's.id', limit: 2 });
  }

  list(
    op: Op,
    projects: 'all' | readonly string[],
    query: z.output<typeof subnetListQuery>,
  ): Promise<{ rows: ShownSubnet[]; next: string | null }> {
    const found = new Conditions()
      .within('s.project_id', projects)
      .equal('s.network_id', query.network)
      .equal('s.name', query.name)
      .search(query.q, { ids: ['s.id'], texts: ['s.name'], addresses: ['s.cidr'] });
    return keysetPage(op, SubnetEntity, found, {
      ...newestFirst,
      ...shown,
      limit: query.limit,
      cursor: query.cursor,
    });
  }

  /** Locked against everything else, ports among it. False when it is gone. */
  async lockForDelete(op: Op, id: string): Promise<boolean> {
    return (await op.query('SELECT 1 FROM subnet WHERE id = $1 FOR UPDATE', [id])).length === 1;
  }

  /** Instances with an address of it, at most `limit`, and how many there are. */
  async users(op: Op, id: string, limit: number): Promise<{ count: number; first: InUseBy[] }> {
    const rows = await op.query<{ id: string; name: string; count: number }>(
      `SELECT p.instance_id AS id, min(p.hostname) AS name, (count(*) OVER ())::int AS count
       FROM port_address a JOIN port p ON p.id = a.port_id WHERE a.subnet_id = $1 GROUP BY p.instance_id ORDER BY 2, 1 LIMIT $2`,
      [id, limit],
    );
    return {
      count: rows[0]?.count ?? 0,
      first: rows.map(({ id: instance, name }) => ({ kind: 'instance', id: instance, name })),
    };
  }

  async remove(op: Op, id: string): Promise<void> {
    await removeRows(op, SubnetEntity, { id });
  }

  /** In the order in which they were made, which is that in which addresses are taken from them. */
  ofNetworks(op: Op, networkIds: readonly string[]): Promise<SubnetEntity[]> {
    return networkIds.length === 0
      ? Promise.resolve([])
      : findRows(op, SubnetEntity, { networkId: networkIds }, { order: 'createdAt' });
  }

  /** As `ofNetworks`, locked for handing out addresses, in one order for all. */
  async lock(op: Op, networkIds: readonly string[]): Promise<SubnetEntity[]> {
    const locked = await findRows(
      op,
      SubnetEntity,
      { networkId: [...new Set(networkIds)] },
      { order: 'id', lock: 'FOR NO KEY UPDATE' },
    );
    return locked.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
  }

  /** Of these networks, and of those that a router joins them with. */
  reachedFrom(
    op: Op,
    networkIds: readonly string[],
  ): Promise<Pick<SubnetEntity, 'id' | 'networkId' | 'cidr' | 'gateway' | 'dns'>[]> {
    return op.query(
      `SELECT id, network_id AS "networkId", cidr, host(gateway) AS gateway, dns FROM subnet WHERE network_id IN (${reachedNetworks}) ORDER BY created_at, id`,
      [networkIds],
    );
  }

  /** Throws 409 `name_taken`; the transaction is lost then. */
  async update(op: Op, id: string, changes: Partial<Pick<SubnetEntity, 'name' | 'dns'>>): Promise<void> {
    await updateRow(op, SubnetEntity, id, changes).catch((error: unknown) => {
      throw violatedUnique(error) === 'subnet_name_key' ? nameTaken('subnet', changes.name ?? '') : error;
    });
  }

  async removeOf(op: Op, networkId: string): Promise<void> {
    await removeRows(op, SubnetEntity, { networkId });
  }
}
