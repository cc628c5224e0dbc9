import { injectable } from 'inversify';
import {
  findRow,
  findRows,
  firstByName,
  insertRow,
  removeRows,
  rowExists,
  updateRow,
} from '../../../../core/db/rows/rows';
import { Conditions } from '../../../../core/db/rows/conditions';
import { keysetPage, newestFirst } from '../../../../core/db/rows/keyset';
import type { Op } from '../../../../core/db/rows/op';
import type { InUseBy } from '../../../../core/errors/in-use';
import { violatedUnique } from '../../../../core/db/sql-state';
import { nameTaken } from '../../../../core/errors/problem';
import { looksLikeId } from '../../../../core/http/routes/fields';
import type { PageRequest } from '../../../../core/http/routes/pagination';
import { SshKeyEntity } from './ssh-key.entity';

@injectable()
export class SshKeyRepository {
  async insert(op: Op, key: SshKeyEntity): Promise<void> {
    await insertRow(op, SshKeyEntity, key);
  }

  byId(op: Op, id: string): Promise<SshKeyEntity | null> {
    return findRow(op, SshKeyEntity, { id });
  }

  find(op: Op, projectId: string, ref: string): Promise<SshKeyEntity | null> {
    return findRow(
      op,
      SshKeyEntity,
      looksLikeId(ref) ? { id: ref.toLowerCase(), projectId } : { name: ref, projectId },
    );
  }

  nameTaken(op: Op, projectId: string, name: string): Promise<boolean> {
    return rowExists(op, SshKeyEntity, { projectId, name });
  }

  /** At most two: enough to tell one from several. */
  named(op: Op, projects: 'all' | readonly string[], name: string): Promise<SshKeyEntity[]> {
    return findRows(op, SshKeyEntity, { name, ...(projects !== 'all' && { projectId: projects }) }, { limit: 2 });
  }

  list(
    op: Op,
    projects: 'all' | readonly string[],
    { limit, cursor, q }: PageRequest,
  ): Promise<{ rows: SshKeyEntity[]; next: string | null }> {
    const found = new Conditions().within('k.project_id', projects).search(q, { ids: ['k.id'], texts: ['k.name'] });
    return keysetPage(op, SshKeyEntity, found, {
      ...newestFirst,
      alias: 'k',
      limit,
      cursor,
    });
  }

  /** Throws 409 `name_taken`; the transaction is lost then. */
  async update(op: Op, id: string, changes: Partial<Pick<SshKeyEntity, 'name'>>): Promise<void> {
    await updateRow(op, SshKeyEntity, id, changes).catch((error: unknown) => {
      throw violatedUnique(error) === 'ssh_key_name' ? nameTaken('ssh key', changes.name ?? '') : error;
    });
  }

  async remove(op: Op, id: string): Promise<void> {
    await removeRows(op, SshKeyEntity, { id });
  }

  /** Those of the project: how many, and the first by name. */
  async ofProject(op: Op, projectId: string, limit: number): Promise<{ count: number; first: InUseBy[] }> {
    const { rows, count } = await firstByName(op, SshKeyEntity, { projectId }, limit);
    return { count, first: rows.map(({ id, name }) => ({ kind: 'ssh-key', id, name })) };
  }
}
