import { injectable } from 'inversify';
import type { z } from 'zod';
import { atOnce } from '../../../../core/db/at-once';
import { Conditions } from '../../../../core/db/rows/conditions';
import { keysetPage, newestFirst, rowsInOrder, sqlOf } from '../../../../core/db/rows/keyset';
import type { Op } from '../../../../core/db/rows/op';
import { findRow, findRows, firstByName, removeRows, updateRow } from '../../../../core/db/rows/rows';
import { violatedUnique } from '../../../../core/db/sql-state';
import type { InUseBy } from '../../../../core/errors/in-use';
import { nameTaken } from '../../../../core/errors/problem';
import type { securityGroupListQuery } from '../../contract/security-group.api';
import { SecurityGroupEntity } from './security-group.entity';

/** `concerned`: hosts that need it; `converged`: those that reported what the newest document says of it. */
export type ShownSecurityGroup = SecurityGroupEntity & {
  rules: number;
  ports: number;
  concerned: number;
  converged: number;
};

/** Hosts with ports in the group, or with ports whose rules name its members. */
export const hostsConcerned = (groupId: string): string =>
  `SELECT DISTINCT p.host_id FROM port p JOIN port_security_group s ON s.port_id = p.id
    WHERE p.attached AND (s.group_id = ${groupId} OR s.group_id IN (SELECT r.group_id FROM security_group_rule r WHERE r.remote_group_id = ${groupId}))`;

/** What is read of groups that are shown. */
const shown = {
  alias: 'g',
  also: {
    rules: sqlOf<number>('(SELECT count(*)::int FROM security_group_rule WHERE group_id = g.id)'),
    ports: sqlOf<number>('(SELECT count(*)::int FROM port_security_group WHERE group_id = g.id)'),
    concerned: sqlOf<number>(`(SELECT count(*)::int FROM (${hostsConcerned('g.id')}) AS h)`),
    converged: sqlOf<number>(
      `(SELECT count(*)::int FROM (${hostsConcerned('g.id')}) AS h
          JOIN security_group_delivery d ON d.host_id = h.host_id AND d.group_id = g.id AND d.version = g.version
          JOIN host_network_generation n ON n.host_id = h.host_id AND n.reported >= d.generation)`,
    ),
  },
};

@injectable()
export class SecurityGroupRepository {
  /** False when the project has one of this name. */
  async insert(op: Op, group: Omit<SecurityGroupEntity, 'version'>): Promise<boolean> {
    const rows: unknown[] = await op.query(
      `INSERT INTO security_group (id, project_id, name, description, is_default, created_at) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT ON CONSTRAINT security_group_name_key DO NOTHING RETURNING id`,
      [group.id, group.projectId, group.name, group.description, group.isDefault, group.createdAt],
    );
    return rows.length === 1;
  }

  byId(op: Op, id: string): Promise<SecurityGroupEntity | null> {
    return findRow(op, SecurityGroupEntity, { id });
  }

  named(op: Op, projects: 'all' | readonly string[], name: string): Promise<SecurityGroupEntity[]> {
    return findRows(
      op,
      SecurityGroupEntity,
      { name, ...(projects !== 'all' && { projectId: projects }) },
      { limit: 2 },
    );
  }

  /** Of one project, by ids and names, kept until the transaction ends. */
  async held(
    op: Op,
    projectId: string,
    refs: { ids: readonly string[]; names: readonly string[] },
  ): Promise<{ id: string; name: string }[]> {
    if (refs.ids.length + refs.names.length === 0) return [];
    return op.query(
      `SELECT id, name FROM security_group WHERE project_id = $1 AND (id = ANY($2::uuid[]) OR name = ANY($3::text[])) ORDER BY id ${op.inTransaction ? 'FOR KEY SHARE' : ''}`,
      [projectId, refs.ids, refs.names],
    );
  }

  /** As it is shown, in one statement. */
  async shown(op: Op, id: string): Promise<ShownSecurityGroup | null> {
    const found = new Conditions().equal('g.id', id);
    return (await rowsInOrder(op, SecurityGroupEntity, found, { ...shown, order: 'g.id', limit: 1 }))[0] ?? null;
  }

  list(
    op: Op,
    projects: 'all' | readonly string[],
    query: z.output<typeof securityGroupListQuery>,
  ): Promise<{ rows: ShownSecurityGroup[]; next: string | null }> {
    const found = new Conditions()
      .within('g.project_id', projects)
      .equal('g.name', query.name)
      .search(query.q, { ids: ['g.id'], texts: ['g.name'] });
    return keysetPage(op, SecurityGroupEntity, found, {
      ...newestFirst,
      ...shown,
      limit: query.limit,
      cursor: query.cursor,
    });
  }

  /** Locks it against every change, and against ports that join and rules that name it. Null when it is gone. */
  async lock(op: Op, id: string): Promise<SecurityGroupEntity | null> {
    return findRow(op, SecurityGroupEntity, { id }, { lock: 'FOR UPDATE' });
  }

  /** Locks groups against changes of rules and members, in one order for all. False when one is gone. */
  async lockAll(op: Op, ids: readonly string[]): Promise<boolean> {
    const distinct = [...new Set(ids)];
    const options = { order: 'id', lock: 'FOR NO KEY UPDATE' } as const;
    return (await findRows(op, SecurityGroupEntity, { id: distinct }, options)).length === distinct.length;
  }

  /** Hosts must hear of its rules or members anew. In one order for all. */
  async grow(op: Op, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    // Locks in a statement of their own: one that locks a row and, by its older snapshot, updates it can wait for whoever
    // waits for that lock.
    await atOnce(
      op.query('SELECT 1 FROM security_group WHERE id = ANY($1::uuid[]) ORDER BY id FOR NO KEY UPDATE', [ids]),
      op.query('UPDATE security_group SET version = version + 1 WHERE id = ANY($1::uuid[])', [ids]),
    );
  }

  /** Throws 409 `name_taken`; the transaction is lost then. */
  async update(op: Op, id: string, changes: Partial<Pick<SecurityGroupEntity, 'name' | 'description'>>): Promise<void> {
    await updateRow(op, SecurityGroupEntity, id, changes).catch((error: unknown) => {
      throw violatedUnique(error) === 'security_group_name_key'
        ? nameTaken('security group', changes.name ?? '')
        : error;
    });
  }

  async remove(op: Op, id: string): Promise<void> {
    await removeRows(op, SecurityGroupEntity, { id });
  }

  /** All that are left of a project that is gone: its default one. */
  async removeOf(op: Op, projectId: string): Promise<void> {
    await removeRows(op, SecurityGroupEntity, { projectId });
  }

  async count(op: Op, projectId: string): Promise<number> {
    const [row] = await op.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM security_group WHERE project_id = $1',
      [projectId],
    );
    return row?.count ?? 0;
  }

  /** Instances with ports in it, and other groups whose rules name it. */
  async users(op: Op, id: string, limit: number): Promise<{ first: InUseBy[]; count: number }> {
    const [row] = await op.query<{ first: InUseBy[] | null; count: number }>(
      `WITH users AS (
         SELECT 'instance' AS kind, p.instance_id AS id, min(p.hostname) AS name FROM port_security_group s JOIN port p ON p.id = s.port_id WHERE s.group_id = $1 GROUP BY p.instance_id
         UNION ALL SELECT DISTINCT 'security-group', g.id, g.name FROM security_group_rule r JOIN security_group g ON g.id = r.group_id WHERE r.remote_group_id = $1 AND g.id <> $1)
       SELECT (SELECT json_agg(json_build_object('kind', kind, 'id', id, 'name', name)) FROM (SELECT * FROM users ORDER BY kind, name, id LIMIT $2) AS f) AS first,
         (SELECT count(*)::int FROM users) AS count`,
      [id, limit],
    );
    return { first: row?.first ?? [], count: row?.count ?? 0 };
  }

  /** Those of the project but its default group, which goes with it. */
  async ofProject(op: Op, projectId: string, limit: number): Promise<{ count: number; first: InUseBy[] }> {
    const { rows, count } = await firstByName(op, SecurityGroupEntity, { projectId, isDefault: false }, limit);
    return { count, first: rows.map(({ id, name }) => ({ kind: 'security-group', id, name })) };
  }
}
