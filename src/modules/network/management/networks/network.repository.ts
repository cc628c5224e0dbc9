import { injectable } from 'inversify';
import { atOnce } from '../../../../core/db/at-once';
import { Conditions } from '../../../../core/db/rows/conditions';
import { keysetPage, newestFirst, rowsInOrder, sqlOf } from '../../../../core/db/rows/keyset';
import { findRow, findRows, firstByName, removeRows, updateRow } from '../../../../core/db/rows/rows';
import type { z } from 'zod';
import type { Op } from '../../../../core/db/rows/op';
import { searchCondition } from '../../../../core/db/rows/search';
import type { InUseBy } from '../../../../core/errors/in-use';
import { violatedUnique } from '../../../../core/db/sql-state';
import { nameTaken } from '../../../../core/errors/problem';
import type { networkListQuery } from '../../contract/network.api';
import type { SubnetEntity } from '../subnets/subnet.entity';
import { reachedNetworks } from '../routers/reached-networks';
import { looksLikeId } from '../../../../core/http/routes/fields';
import { NetworkEntity } from './network.entity';

/** Key of the lock between a network's deletion and those who are about to use it. */
const deleteLock = `hashtextextended('network/' || $1, 0)`;

/** Looks at a network whose name passes from one to another all the time. */
const heldAttempts = 3;

/** A subnet, as far as an address of it is asked for. */
export type UsedSubnet = Pick<SubnetEntity, 'id' | 'cidr' | 'gateway'>;

/**
 * `nextIsFree`: the address that comes next in its first subnet is nobody's, so that there is room for one more. `nat`: its
 * router leads outside.
 */
export type HeldNetwork = NetworkEntity & { subnets: UsedSubnet[]; nat: boolean; nextIsFree: boolean };

const nat = sqlOf<boolean>(
  'EXISTS (SELECT 1 FROM router_interface i JOIN router r ON r.id = i.router_id WHERE i.network_id = n.id AND r.snat)',
);

/** What is read of networks that are about to be used. */
const held = {
  alias: 'n',
  also: {
    subnets: sqlOf<UsedSubnet[]>(
      `(SELECT coalesce(json_agg(json_build_object('id', s.id, 'cidr', s.cidr, 'gateway', host(s.gateway)) ORDER BY s.created_at, s.id), '[]')
         FROM subnet s WHERE s.network_id = n.id)`,
    ),
    nat,
    nextIsFree: sqlOf<boolean>(
      `coalesce((SELECT s.next_address <> s.gateway
           AND NOT EXISTS (SELECT 1 FROM port_address p WHERE p.subnet_id = s.id AND p.address = s.next_address)
           AND NOT EXISTS (SELECT 1 FROM address_cooldown a WHERE a.subnet_id = s.id AND a.address = s.next_address AND a.until > now())
         FROM subnet s WHERE s.network_id = n.id ORDER BY s.created_at, s.id LIMIT 1), false)`,
    ),
  },
};

/** A subnet as it is shown; `used`: its addresses that ports have. */
type ShownSubnet = Pick<SubnetEntity, 'id' | 'name' | 'cidr' | 'gateway' | 'dns'> & { used: number };
export type ShownNetwork = NetworkEntity & {
  subnets: ShownSubnet[];
  router: { id: string; name: string; snat: boolean } | null;
};

/** What is read of networks that are shown. */
const shown = {
  alias: 'n',
  also: {
    subnets: sqlOf<ShownSubnet[]>(
      `(SELECT coalesce(json_agg(json_build_object('id', s.id, 'name', s.name, 'cidr', s.cidr, 'gateway', host(s.gateway), 'dns', s.dns,
           'used', (SELECT count(*) FROM port_address p WHERE p.subnet_id = s.id)) ORDER BY s.created_at, s.id), '[]')
         FROM subnet s WHERE s.network_id = n.id)`,
    ),
    router: sqlOf<ShownNetwork['router']>(
      `(SELECT json_build_object('id', r.id, 'name', r.name, 'snat', r.snat)
         FROM router_interface i JOIN router r ON r.id = i.router_id WHERE i.network_id = n.id LIMIT 1)`,
    ),
  },
};

/** Networks with a subnet whose address begins so. An array is looked up in the index of ids, where a subquery is not. */
const subnetsAt = (q: string, bind: (value: unknown) => string): string =>
  `n.id = ANY(ARRAY(SELECT s.network_id FROM subnet s WHERE ${searchCondition(q, { ids: [], addresses: ['s.cidr'] }, bind)}))`;

@injectable()
export class NetworkRepository {
  /** False when the project has one of this name. */
  async insert(op: Op, network: NetworkEntity): Promise<boolean> {
    const rows: unknown[] = await op.query(
      `INSERT INTO network (id, project_id, name, description, mtu, created_at)
       VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT ON CONSTRAINT network_name_key DO NOTHING RETURNING id`,
      [network.id, network.projectId, network.name, network.description, network.mtu, network.createdAt],
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

  /** These, and those that a router joins them with, in the order of their ids. */
  reachedFrom(op: Op, ids: readonly string[]): Promise<Pick<NetworkEntity, 'id' | 'mtu'>[]> {
    return op.query(`SELECT id, mtu FROM network WHERE id IN (${reachedNetworks}) ORDER BY id`, [ids]);
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

  /** A network of the project, not deleted until the transaction ends, if there is one. `ref`: name or id. */
  async heldForChange(op: Op, projectId: string, ref: string): Promise<Pick<NetworkEntity, 'id' | 'projectId'> | null> {
    const column = looksLikeId(ref) ? 'id' : 'name';
    const rows = await op.query<Pick<NetworkEntity, 'id' | 'projectId'>>(
      `SELECT id, project_id AS "projectId" FROM network WHERE ${column} = $1 AND project_id = $2 FOR KEY SHARE`,
      [ref, projectId],
    );
    return rows[0] ?? null;
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
    const found = new Conditions().within('n.project_id', projects).equal('n.name', query.name);
    const subnets = query.q === undefined ? [] : [subnetsAt(query.q, (value) => found.bind(value))];
    found.search(query.q, { ids: ['n.id'], texts: ['n.name'] }, subnets);
    return keysetPage(op, NetworkEntity, found, {
      ...newestFirst,
      ...shown,
      limit: query.limit,
      cursor: query.cursor,
    });
  }

  /** Throws 409 `name_taken`; the transaction is lost then. */
  async update(op: Op, id: string, changes: Partial<Pick<NetworkEntity, 'name' | 'description'>>): Promise<void> {
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
