import { injectable } from 'inversify';
import { Conditions } from '../../../../core/db/rows/conditions';
import { rowsInOrder } from '../../../../core/db/rows/keyset';
import { findRow, removeRows, updateRow } from '../../../../core/db/rows/rows';
import type { Op } from '../../../../core/db/rows/op';
import { looksLikeId } from '../../../../core/http/routes/fields';
import { UserEntity } from './user.entity';
import { AuthorityCache } from '../authority/authority-cache';

export interface NewUser {
  id: string;
  name: string;
  passwordHash: string;
  admin: boolean;
}

@injectable()
export class UserRepository {
  constructor(private readonly cache: AuthorityCache) {}

  /** Null when the name is taken. */
  async insert(op: Op, user: NewUser): Promise<UserEntity | null> {
    const rows: unknown[] = await op.query(
      `INSERT INTO app_user (id, name, password_hash, admin) VALUES ($1, $2, $3, $4) ON CONFLICT ON CONSTRAINT app_user_name_key DO NOTHING RETURNING id`,
      [user.id, user.name, user.passwordHash, user.admin],
    );
    return rows.length === 0 ? null : this.byId(op, user.id);
  }

  byId(op: Op, id: string): Promise<UserEntity | null> {
    return findRow(op, UserEntity, { id });
  }

  byName(op: Op, name: string): Promise<UserEntity | null> {
    return findRow(op, UserEntity, { name });
  }

  byRef(op: Op, ref: string): Promise<UserEntity | null> {
    return looksLikeId(ref) ? this.byId(op, ref.toLowerCase()) : this.byName(op, ref);
  }

  /** By name, `limit` rows after `after`. */
  page(op: Op, limit: number, after: string | undefined, q?: string): Promise<UserEntity[]> {
    const found = new Conditions().after('u.name', after).search(q, { ids: ['u.id'], texts: ['u.name'] });
    return rowsInOrder(op, UserEntity, found, { alias: 'u', order: 'u.name', limit });
  }

  async update(
    op: Op,
    id: string,
    change: Partial<Pick<UserEntity, 'passwordHash' | 'admin' | 'enabled'>>,
  ): Promise<void> {
    if (Object.keys(change).length === 0) return;
    await updateRow(op, UserEntity, id, change);
    op.afterCommit(() => this.cache.forget(id));
  }

  async delete(op: Op, id: string): Promise<void> {
    await removeRows(op, UserEntity, { id });
    op.afterCommit(() => this.cache.forget(id));
  }

  /**
   * Ids of the enabled admins, locked until the transaction ends, so that two of them cannot remove each other at once.
   */
  async lockAdmins(op: Op): Promise<string[]> {
    const rows: { id: string }[] = await op.query(
      `SELECT id FROM app_user WHERE admin AND enabled ORDER BY id FOR UPDATE`,
    );
    return rows.map((row) => row.id);
  }

  /** Lets one process at a time look whether this is the first boot. */
  async lockFirstBoot(op: Op): Promise<void> {
    await op.query(`SELECT pg_advisory_xact_lock(hashtextextended('identity/first-boot', 0))`);
  }

  async any(op: Op): Promise<boolean> {
    const rows: unknown[] = await op.query(`SELECT 1 FROM app_user LIMIT 1`);
    return rows.length > 0;
  }
}
