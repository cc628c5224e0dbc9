import { injectable } from 'inversify';
import { removeRows } from '../../../../core/db/rows/rows';
import type { ProjectRole } from '../../../../core/auth/principal';
import type { Op } from '../../../../core/db/rows/op';
import { searchCondition } from '../../../../core/db/rows/search';
import { ProjectMemberEntity } from './project-member.entity';
import { AuthorityCache } from '../authority/authority-cache';

export interface MemberRow {
  userId: string;
  userName: string;
  role: ProjectRole;
}

@injectable()
export class ProjectMemberRepository {
  constructor(private readonly cache: AuthorityCache) {}

  async set(op: Op, projectId: string, userId: string, role: ProjectRole): Promise<void> {
    await op.query(
      `INSERT INTO project_member (project_id, user_id, role) VALUES ($1, $2, $3) ON CONFLICT (project_id, user_id) DO UPDATE SET role = excluded.role`,
      [projectId, userId, role],
    );
    op.afterCommit(() => this.cache.forget(userId));
  }

  /** False when there was no such membership. */
  async remove(op: Op, projectId: string, userId: string): Promise<boolean> {
    const removed = await removeRows(op, ProjectMemberEntity, { projectId, userId });
    op.afterCommit(() => this.cache.forget(userId));
    return removed > 0;
  }

  /** By user name, `limit` rows after `after`. */
  page(op: Op, projectId: string, limit: number, after?: string, q?: string): Promise<MemberRow[]> {
    const params: unknown[] = [projectId, after ?? null, limit];
    const found =
      q === undefined
        ? 'true'
        : searchCondition(q, { ids: ['u.id'], texts: ['u.name'] }, (value) => `$${params.push(value)}`);
    return op.query(
      `SELECT u.id AS "userId", u.name AS "userName", m.role FROM project_member m JOIN app_user u ON u.id = m.user_id
       WHERE m.project_id = $1 AND ($2::text IS NULL OR u.name > $2) AND ${found} ORDER BY u.name LIMIT $3`,
      params,
    );
  }
}
