import { injectable } from 'inversify';
import { Conditions } from '../../../../core/db/rows/conditions';
import { rowsInOrder } from '../../../../core/db/rows/keyset';
import { findRow, findRows, removeRows, updateRow } from '../../../../core/db/rows/rows';
import type { Op } from '../../../../core/db/rows/op';
import { looksLikeId } from '../../../../core/http/routes/fields';
import { violatedUnique } from '../../../../core/db/sql-state';
import { nameTaken } from '../../../../core/errors/problem';
import { ProjectEntity } from './project.entity';
import { AuthorityCache } from '../authority/authority-cache';

@injectable()
export class ProjectRepository {
  constructor(private readonly cache: AuthorityCache) {}

  /** Null when the name is taken. */
  async insert(op: Op, project: { id: string; name: string; description: string }): Promise<ProjectEntity | null> {
    const rows: unknown[] = await op.query(
      `INSERT INTO project (id, name, description) VALUES ($1, $2, $3) ON CONFLICT ON CONSTRAINT project_name_key DO NOTHING RETURNING id`,
      [project.id, project.name, project.description],
    );
    return rows.length === 0 ? null : findRow(op, ProjectEntity, { id: project.id });
  }

  byRef(op: Op, ref: string): Promise<ProjectEntity | null> {
    return findRow(op, ProjectEntity, looksLikeId(ref) ? { id: ref.toLowerCase() } : { name: ref });
  }

  byIds(op: Op, ids: readonly string[]): Promise<ProjectEntity[]> {
    return ids.length === 0 ? Promise.resolve([]) : findRows(op, ProjectEntity, { id: ids }, { order: 'name' });
  }

  /** By name, `limit` rows after `after`, of the given projects only. */
  page(
    op: Op,
    projects: 'all' | readonly string[],
    limit: number,
    after?: string,
    q?: string,
  ): Promise<ProjectEntity[]> {
    const found = new Conditions()
      .within('p.id', projects)
      .after('p.name', after)
      .search(q, { ids: ['p.id'], texts: ['p.name'] });
    return rowsInOrder(op, ProjectEntity, found, { alias: 'p', order: 'p.name', limit });
  }

  /** Throws 409 `name_taken`; the transaction is lost then. */
  async update(op: Op, id: string, change: { name?: string; description?: string }): Promise<void> {
    if (Object.keys(change).length === 0) return;
    await updateRow(op, ProjectEntity, id, change).catch((error: unknown) => {
      throw violatedUnique(error) === 'project_name_key' ? nameTaken('project', change.name ?? '') : error;
    });
    op.afterCommit(() => this.cache.forget(id));
  }

  /** False when it is gone. `UPDATE` waits for every `KEY SHARE` holder, and the other way round. */
  async lock(op: Op, id: string, strength: 'UPDATE' | 'KEY SHARE'): Promise<boolean> {
    const rows: unknown[] = await op.query(`SELECT 1 FROM project WHERE id = $1 FOR ${strength}`, [id]);
    return rows.length > 0;
  }

  /** Memberships go with it. */
  async delete(op: Op, id: string): Promise<void> {
    await removeRows(op, ProjectEntity, { id });
    op.afterCommit(() => this.cache.forget(null));
  }
}
