import { injectable } from 'inversify';
import { Conditions } from '../../../../core/db/rows/conditions';
import { keysetPage, newestFirst } from '../../../../core/db/rows/keyset';
import { findRow, insertRow, removeRows, rowExists, updateRow } from '../../../../core/db/rows/rows';
import type { Op } from '../../../../core/db/rows/op';
import { violatedUnique } from '../../../../core/db/sql-state';
import { nameTaken } from '../../../../core/errors/problem';
import { looksLikeId } from '../../../../core/http/routes/fields';
import type { PageRequest } from '../../../../core/http/routes/pagination';
import { FlavorEntity } from './flavor.entity';

@injectable()
export class FlavorRepository {
  async insert(op: Op, flavor: FlavorEntity): Promise<void> {
    await insertRow(op, FlavorEntity, flavor);
  }

  find(op: Op, ref: string): Promise<FlavorEntity | null> {
    return findRow(op, FlavorEntity, looksLikeId(ref) ? { id: ref.toLowerCase() } : { name: ref });
  }

  async nameTaken(op: Op, name: string): Promise<boolean> {
    return rowExists(op, FlavorEntity, { name });
  }

  list(op: Op, { limit, cursor, q }: PageRequest): Promise<{ rows: FlavorEntity[]; next: string | null }> {
    const found = new Conditions().search(q, { ids: ['f.id'], texts: ['f.name'] });
    return keysetPage(op, FlavorEntity, found, {
      ...newestFirst,
      alias: 'f',
      limit,
      cursor,
    });
  }

  /** Throws 409 `name_taken`; the transaction is lost then. */
  async update(
    op: Op,
    id: string,
    changes: Partial<Pick<FlavorEntity, 'name' | 'description' | 'vendorData'>>,
  ): Promise<void> {
    await updateRow(op, FlavorEntity, id, changes).catch((error: unknown) => {
      throw violatedUnique(error) === 'flavor_name_key' ? nameTaken('flavor', changes.name ?? '') : error;
    });
  }

  async remove(op: Op, id: string): Promise<void> {
    await removeRows(op, FlavorEntity, { id });
  }
}
