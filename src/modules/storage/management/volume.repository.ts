import { injectable } from 'inversify';
import { atOnce } from '../../../core/db/at-once';
import { Conditions } from '../../../core/db/rows/conditions';
import { keysetPage, newestFirst } from '../../../core/db/rows/keyset';
import { findRow, removeRows, updateRow } from '../../../core/db/rows/rows';
import type { Op } from '../../../core/db/rows/op';
import type { InUseBy } from '../../../core/errors/in-use';
import type { PageRequest } from '../../../core/http/routes/pagination';
import { VolumeEntity } from './volume.entity';

@injectable()
export class VolumeRepository {
  /** False when the instance has a root volume already, which is left as it is. */
  async insertRoot(op: Op, v: VolumeEntity): Promise<boolean> {
    const rows: unknown[] = await op.query(
      `INSERT INTO volume (id, project_id, name, role, state, bytes, pool, host_id, instance_id, image_id, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT ON CONSTRAINT volume_instance_role DO NOTHING RETURNING id`,
      [v.id, v.projectId, v.name, v.role, v.state, v.bytes, v.pool, v.hostId, v.instanceId, v.imageId, v.createdAt],
    );
    return rows.length === 1;
  }

  rootOf(op: Op, instanceId: string): Promise<VolumeEntity | null> {
    return findRow(op, VolumeEntity, { instanceId, role: 'root' });
  }

  /** Null when it is gone. */
  async change(
    op: Op,
    id: string,
    changes: Partial<Pick<VolumeEntity, 'state' | 'bytes'>>,
  ): Promise<VolumeEntity | null> {
    const [, volume] = await atOnce(updateRow(op, VolumeEntity, id, changes), findRow(op, VolumeEntity, { id }));
    return volume;
  }

  async remove(op: Op, id: string): Promise<void> {
    await removeRows(op, VolumeEntity, { id });
  }

  list(
    op: Op,
    projects: 'all' | readonly string[],
    { limit, cursor, q }: PageRequest,
  ): Promise<{ rows: VolumeEntity[]; next: string | null }> {
    const found = new Conditions()
      .within('v.project_id', projects)
      .search(q, { ids: ['v.id', 'v.instance_id'], texts: ['v.name'] });
    return keysetPage(op, VolumeEntity, found, {
      ...newestFirst,
      alias: 'v',
      limit,
      cursor,
    });
  }

  /** Volumes made from the image. */
  ofImage(op: Op, imageId: string, limit: number): Promise<VolumesFound> {
    return this.found(op, 'image_id = $1', imageId, limit);
  }

  /** Volumes of the project. */
  ofProject(op: Op, projectId: string, limit: number): Promise<VolumesFound> {
    return this.found(op, 'project_id = $1', projectId, limit);
  }

  /** The first by name, and how many there are. */
  private async found(op: Op, condition: string, value: string, limit: number): Promise<VolumesFound> {
    const rows: { id: string; name: string; projectId: string; count: number }[] = await op.query(
      `SELECT id, name, project_id AS "projectId", (count(*) OVER ())::int AS count FROM volume WHERE ${condition} ORDER BY name, id LIMIT $2`,
      [value, limit],
    );
    return { count: rows[0]?.count ?? 0, first: rows.map(({ count: _, ...row }) => ({ kind: 'volume', ...row })) };
  }
}

interface VolumesFound {
  first: (InUseBy & { projectId: string })[];
  count: number;
}
