import { injectable } from 'inversify';
import {
  countRows,
  findRow,
  findRows,
  firstByName,
  removeRows,
  rowExists,
  updateRow,
} from '../../../../core/db/rows/rows';
import { violatedUnique } from '../../../../core/db/sql-state';
import { nameTaken } from '../../../../core/errors/problem';
import { Conditions } from '../../../../core/db/rows/conditions';
import { keysetPage, newestFirst } from '../../../../core/db/rows/keyset';
import type { Op } from '../../../../core/db/rows/op';
import type { InUseBy } from '../../../../core/errors/in-use';
import type { PageRequest } from '../../../../core/http/routes/pagination';
import { ImageEntity } from './image.entity';

/** Seconds of silence after which a worker counts as dead. It shows itself every few seconds. */
const silentSeconds = 60;

const locks = { share: 'FOR KEY SHARE', update: 'FOR UPDATE' } as const;

@injectable()
export class ImageRepository {
  /** False when the project has one of this name. */
  async insert(op: Op, i: ImageEntity): Promise<boolean> {
    const rows: unknown[] = await op.query(
      `INSERT INTO image (id, project_id, name, description, state, message, public, url, checksum, claimed_format, architecture, firmware, vendor_data, created_at, vmm, command_line)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) ON CONFLICT ON CONSTRAINT image_name DO NOTHING RETURNING id`,
      [
        i.id,
        i.projectId,
        i.name,
        i.description,
        i.state,
        i.message,
        i.public,
        i.url,
        i.checksum,
        i.claimedFormat,
        i.architecture,
        i.firmware,
        i.vendorData,
        i.createdAt,
        i.vmm,
        i.commandLine,
      ],
    );
    return rows.length === 1;
  }

  byId(op: Op, id: string): Promise<ImageEntity | null> {
    return findRow(op, ImageEntity, { id });
  }

  /** With the row locked until the transaction ends. `share`: against delete only. */
  lock(op: Op, id: string, mode: 'share' | 'update'): Promise<ImageEntity | null> {
    return findRow(op, ImageEntity, { id }, { lock: locks[mode] });
  }

  /** The one with this id, if it is that project's, or public. `share`: as for `lock`. */
  withId(op: Op, id: string, whose: { projectId: string } | { public: true }, mode?: 'share'): Promise<ImageEntity[]> {
    return findRows(op, ImageEntity, { id, ...whose }, mode && { lock: locks[mode] });
  }

  /** Own images of this name, at most two. `share`: as for `lock`. */
  named(op: Op, projects: 'all' | readonly string[], name: string, mode?: 'share'): Promise<ImageEntity[]> {
    const filter = { name, ...(projects !== 'all' && { projectId: projects }) };
    return findRows(op, ImageEntity, filter, { limit: 2, ...(mode && { lock: locks[mode] }) });
  }

  publicNamed(op: Op, name: string, mode?: 'share'): Promise<ImageEntity[]> {
    return findRows(op, ImageEntity, { name, public: true }, { limit: 2, ...(mode && { lock: locks[mode] }) });
  }

  list(
    op: Op,
    projects: 'all' | readonly string[],
    { limit, cursor, q }: PageRequest,
  ): Promise<{ rows: ImageEntity[]; next: string | null }> {
    const found = new Conditions().search(q, { ids: ['i.id'], texts: ['i.name'] });
    if (projects !== 'all') found.add(`i.project_id = ANY(${found.bind(projects)}::uuid[]) OR i.public`);
    return keysetPage(op, ImageEntity, found, {
      ...newestFirst,
      alias: 'i',
      limit,
      cursor,
    });
  }

  async update(op: Op, id: string, changes: Partial<Omit<ImageEntity, 'id' | 'workerSeenAt'>>): Promise<void> {
    await updateRow(op, ImageEntity, id, changes);
  }

  /** What its owner may change of it. Throws 409 `name_taken`; the transaction is lost then. */
  async edit(
    op: Op,
    id: string,
    changes: Partial<Pick<ImageEntity, 'name' | 'description' | 'vmm' | 'vendorData' | 'commandLine'>>,
  ): Promise<void> {
    await updateRow(op, ImageEntity, id, changes).catch((error: unknown) => {
      throw violatedUnique(error) === 'image_name' ? nameTaken('image', changes.name ?? '') : error;
    });
  }

  /** The worker's sign of life. False when it is no longer its image: deleted, or taken over. */
  async alive(op: Op, id: string, worker: string, states: ImageEntity['state'][]): Promise<boolean> {
    const rows = await op.query(
      'UPDATE image SET worker_seen_at = now() WHERE id = $1 AND worker = $2 AND state = ANY($3) RETURNING id',
      [id, worker, states],
    );
    return rows.length > 0;
  }

  async setWorker(op: Op, id: string, worker: string): Promise<void> {
    await op.query('UPDATE image SET worker = $2, worker_seen_at = now() WHERE id = $1', [id, worker]);
  }

  /** Bytes that the project's images take on the disk. One transaction at a time gets the answer, until it ends. */
  async storedIn(op: Op, projectId: string): Promise<number> {
    if (op.inTransaction)
      await op.query(`SELECT pg_advisory_xact_lock(hashtextextended('image-project/' || $1, 0))`, [projectId]);
    const [row] = await op.query<{ bytes: number }>(
      `SELECT COALESCE(sum(COALESCE(stored_bytes, 0) + COALESCE(kernel_bytes, 0) + COALESCE(initramfs_bytes, 0)), 0)::float8 AS bytes
         FROM image WHERE project_id = $1`,
      [projectId],
    );
    return row?.bytes ?? 0;
  }

  /** Images of the project whose bytes arrive at the moment. */
  uploading(op: Op, projectId: string): Promise<number> {
    return countRows(op, ImageEntity, { projectId, state: 'uploading' });
  }

  /** Uploads and deletes whose worker is this forerunner of the process, or silent for long; locked. */
  async abandoned(op: Op, forerunner: string | null, busy: readonly string[]): Promise<ImageEntity[]> {
    const rows = await op.query<{ id: string }>(
      `SELECT id FROM image WHERE (state = 'uploading' OR (state = 'deleting' AND task_id IS NULL)) AND id <> ALL($2::uuid[])
         AND (worker IS NULL OR worker = $1 OR worker_seen_at < now() - make_interval(secs => $3))
       ORDER BY id FOR UPDATE SKIP LOCKED`,
      [forerunner, busy, silentSeconds],
    );
    return rows.length === 0 ? [] : findRows(op, ImageEntity, { id: rows.map((r) => r.id) });
  }

  async remove(op: Op, id: string): Promise<void> {
    await removeRows(op, ImageEntity, { id });
  }

  /** One at a time over all processes for the file of this digest, until the transaction ends. */
  async lockDigest(op: Op, sha256: string): Promise<void> {
    await op.query(`SELECT pg_advisory_xact_lock(hashtextextended('image/' || $1, 0))`, [sha256]);
  }

  /** Whether any image has it: as its disk, its kernel or its initramfs. */
  async usesDigest(op: Op, sha256: string): Promise<boolean> {
    for (const member of ['sha256', 'kernelSha256', 'initramfsSha256'] as const)
      if (await rowExists(op, ImageEntity, { [member]: sha256 })) return true;
    return false;
  }

  /** True while some process may write temporary files of the image. */
  async inWork(op: Op, id: string): Promise<boolean> {
    return rowExists(op, ImageEntity, { id, state: ['uploading', 'importing', 'deleting'] });
  }

  /** Those of the project: how many, and the first by name. */
  async ofProject(op: Op, projectId: string, limit: number): Promise<{ count: number; first: InUseBy[] }> {
    const { rows, count } = await firstByName(op, ImageEntity, { projectId }, limit);
    return { count, first: rows.map(({ id, name }) => ({ kind: 'image', id, name })) };
  }
}
