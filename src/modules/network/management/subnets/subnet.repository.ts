import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { findRows, removeRows, updateRow } from '../../../../core/db/rows/rows';
import { reachedNetworks } from '../routers/reached-networks';
import { SubnetEntity } from './subnet.entity';

@injectable()
export class SubnetRepository {
  /** The network's new subnet. 23P01 `subnet_overlap` when it overlaps another one. */
  async insert(op: Op, subnet: SubnetEntity): Promise<void> {
    await op.query(
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

  async update(op: Op, id: string, changes: Partial<Pick<SubnetEntity, 'name' | 'dns'>>): Promise<void> {
    await updateRow(op, SubnetEntity, id, changes);
  }

  async removeOf(op: Op, networkId: string): Promise<void> {
    await removeRows(op, SubnetEntity, { networkId });
  }
}
