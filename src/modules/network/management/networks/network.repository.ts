import { injectable } from 'inversify';
import { atOnce } from '../../../../core/db/at-once';
import { Conditions } from '../../../../core/db/rows/conditions';
import { keysetPage, newestFirst, rowsInOrder, sqlOf } from '../../../../core/db/rows/keyset';
import { findRow, findRows, firstByName, removeRows, updateRow } from '../../../../core/db/rows/rows';
import type { z } from 'zod';
import type { Op } from '../../../../core/db/rows/op';
import type { InUseBy } from '../../../../core/errors/in-use';
import { violatedUnique } from '../../../../core/db/sql-state';
import { nameTaken } from '../../../../core/errors/problem';
import type { networkListQuery } from '../../contract/network.api';
import { NetworkEntity } from './network.entity';

/** Key of the lock between a network's deletion and those who are about to use it. */
const deleteLock = `hashtextextended('network/' || $1, 0)`;

/** Looks at a network whose name passes from one to another all the time. */
const heldAttempts = 3;

/** `nextIsFree`: the address that comes next is nobody's, so that there is room for one more. */
export type HeldNetwork = NetworkEntity & { nextIsFree: boolean };

/** What is read of networks that are about to be used. */
const held = {
  alias: 'n',
  also: {
    nextIsFree: sqlOf<boolean>(
      `(n.next_address <> n.gateway AND NOT EXISTS (SELECT 1 FROM port p WHERE p.network_id = n.id AND p.address = n.next_address)
         AND NOT EXISTS (SELECT 1 FROM address_cooldown a WHERE a.network_id = n.id AND a.address = n.next_address AND a.until > now()))`,
    ),
  },
};

/** `used`: its addresses that ports have. */
export type ShownNetwork = NetworkEntity & { used: number };

/** What is read of networks that are shown. */
const shown = {
  alias: 'n',
  also: { used: sqlOf<number>('(SELECT count(*)::int FROM port WHERE network_id = n.id)') },
};

@injectable()
export class NetworkRepository {
  /** False when the project has one of this name. */
  async insert(op: Op, network: NetworkEntity): Promise<boolean> {
    const rows: unknown[] = await op.query(
      `INSERT INTO network (id, project_id, name, description, subnet, gateway, dns, nat, mtu, next_address, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT ON CONSTRAINT network_name_key DO NOTHING RETURNING id`,
      [
        network.id,
        network.projectId,
        network.name,
        network.description,
        network.subnet,
        network.gateway,
        network.dns,
        network.nat,
        network.mtu,
        network.nextAddress,
        network.createdAt,
      ],
    );
    return rows.length === 1;
  }

  byId(op: Op, id: string): Promise<NetworkEntity | null> {
    return findRow(op, NetworkEntity, { id });
  }

  named(op: Op, projects: 'all' | readonly string[], name: string): Promise<NetworkEntity[]> {
    return findRows(op, NetworkEntity, { name, ...(projects !== 'all' && { projectId: projects }) }, { limit: 2 });
  }

  /** As it is shown, in one statement. */
  async shown(op: Op, id: string): Promise<ShownNetwork | null> {
    const found = new Conditions().equal('n.id', id);
    return (await rowsInOrder(op, NetworkEntity, found, { ...shown, order: 'n.id', limit: 1 }))[0] ?? null;
  }

  shownNamed(op: Op, projects: 'all' | readonly string[], name: string): Promise<ShownNetwork[]> {
    const found = new Conditions().within('n.project_id', projects).equal('n.name', name);
    return rowsInOrder(op, NetworkEntity, found, { ...shown, order: 'n.id', limit: 2 });
  }

  byIds(op: Op, ids: readonly string[]): Promise<NetworkEntity[]> {
    return ids.length === 0 ? Promise.resolve([]) : findRows(op, NetworkEntity, { id: ids });
  }

  /** Locks networks for handing out addresses, in one order for all. Those that are gone are missing. */
  lock(op: Op, ids: readonly string[]): Promise<NetworkEntity[]> {
    return findRows(op, NetworkEntity, { id: [...new Set(ids)] }, { order: 'id', lock: 'FOR NO KEY UPDATE' });
  }

  /**
   * A network of the project, kept from being deleted until the transaction ends, if there is one; ports may come
   * meanwhile. By an advisory lock: one on the row, which every allocation updates, would have creates wait for each
   * other (measured: half as many a second).
   */
  async held(op: Op, projectId: string, key: { id: string } | { name: string }): Promise<HeldNetwork | null> {
    for (let attempt = 0; attempt < heldAttempts; attempt += 1) {
      // Both leave together; the second one sees what was so once the first one had its lock.
      const [lockedId, found] = await atOnce(
        op.inTransaction ? this.lockUse(op, projectId, key) : undefined,
        this.free(op, projectId, key),
      );
      if (!found || !op.inTransaction || found.id === lockedId) return found;
      // Another one has taken the name while this waited for the end of the first.
    }
    return null;
  }

  /** Locks a network against everything else: those who hold it, and ports. */
  async lockForDelete(op: Op, id: string): Promise<void> {
    await op.query(`SELECT pg_advisory_xact_lock(${deleteLock})`, [id]);
    await op.query('SELECT 1 FROM network WHERE id = $1 FOR UPDATE', [id]);
  }

  list(
    op: Op,
    projects: 'all' | readonly string[],
    query: z.output<typeof networkListQuery>,
  ): Promise<{ rows: ShownNetwork[]; next: string | null }> {
    const found = new Conditions()
      .within('n.project_id', projects)
      .equal('n.name', query.name)
      .search(query.q, { ids: ['n.id'], texts: ['n.name'], addresses: ['n.subnet'] });
    return keysetPage(op, NetworkEntity, found, {
      ...newestFirst,
      ...shown,
      limit: query.limit,
      cursor: query.cursor,
    });
  }

  /** Throws 409 `name_taken`; the transaction is lost then. */
  async update(
    op: Op,
    id: string,
    changes: Partial<Pick<NetworkEntity, 'name' | 'description' | 'dns'>>,
  ): Promise<void> {
    await updateRow(op, NetworkEntity, id, changes).catch((error: unknown) => {
      throw violatedUnique(error) === 'network_name_key' ? nameTaken('network', changes.name ?? '') : error;
    });
  }

  async remove(op: Op, id: string): Promise<void> {
    await removeRows(op, NetworkEntity, { id });
  }

  /** Those of the project: how many, and the first by name. */
  async ofProject(op: Op, projectId: string, limit: number): Promise<{ count: number; first: InUseBy[] }> {
    const { rows, count } = await firstByName(op, NetworkEntity, { projectId }, limit);
    return { count, first: rows.map(({ id, name }) => ({ kind: 'network', id, name })) };
  }

  /** The id of the one that the key means, which is not deleted from then on until the transaction ends. */
  private async lockUse(
    op: Op,
    projectId: string,
    key: { id: string } | { name: string },
  ): Promise<string | undefined> {
    const [property, value] = 'id' in key ? ['id', key.id] : ['name', key.name];
    const rows = await op.query<{ id: string }>(
      `SELECT id, pg_advisory_xact_lock_shared(hashtextextended('network/' || id, 0)) FROM network WHERE ${property} = $1 AND project_id = $2`,
      [value, projectId],
    );
    return rows[0]?.id;
  }

  private async free(op: Op, projectId: string, key: { id: string } | { name: string }): Promise<HeldNetwork | null> {
    const found = new Conditions().equal('n.project_id', projectId);
    if ('id' in key) found.equal('n.id', key.id);
    else found.equal('n.name', key.name);
    return (await rowsInOrder(op, NetworkEntity, found, { ...held, order: 'n.id', limit: 1 }))[0] ?? null;
  }
}
