import { injectable } from 'inversify';
import type { z } from 'zod';
import { atOnce } from '../../../core/db/at-once';
import { Conditions } from '../../../core/db/rows/conditions';
import { keysetPage, newestFirst, rowsInOrder, sqlOf } from '../../../core/db/rows/keyset';
import { findRow, insertRow, removeRows, updateRow } from '../../../core/db/rows/rows';
import type { Op } from '../../../core/db/rows/op';
import { violatedUnique } from '../../../core/db/sql-state';
import type { InUseBy } from '../../../core/errors/in-use';
import { nameTaken } from '../../../core/errors/problem';
import type { Volume, volumeListQuery } from '../contract/storage.api';
import type { AttachedVolume } from '../contract/storage.ports';
import { VolumeAttachmentEntity } from './volume-attachment.entity';
import { VolumeEntity } from './volume.entity';

/** As it is shown: with who has it. */
export type ShownVolume = VolumeEntity & { attachments: Volume['attachments'] };

const shown = {
  alias: 'v',
  also: {
    attachments: sqlOf<Volume['attachments']>(
      `(SELECT coalesce(jsonb_agg(jsonb_build_object('instanceId', a.instance_id, 'position', a.position, 'readonly', a.mode = 'ro') ORDER BY a.created_at), '[]')
        FROM volume_attachment a WHERE a.volume_id = v.id)`,
    ),
  },
};

@injectable()
export class VolumeRepository {
  /** False when the instance has a volume of that role already, or the project a data volume of the name. */
  async insert(op: Op, v: VolumeEntity): Promise<boolean> {
    const conflict =
      v.role === 'data' ? `(project_id, name) WHERE role = 'data'` : 'ON CONSTRAINT volume_instance_role';
    const rows: unknown[] = await op.query(
      `INSERT INTO volume (id, project_id, name, role, state, bytes, pool, host_id, instance_id, image_id, protected, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT ${conflict} DO NOTHING RETURNING id`,
      [
        ...[v.id, v.projectId, v.name, v.role, v.state, v.bytes, v.pool, v.hostId, v.instanceId, v.imageId],
        ...[v.protected, v.createdAt],
      ],
    );
    return rows.length === 1;
  }

  /** What an instance has by itself. */
  async inRole(op: Op, instanceId: string, role: 'root' | 'rescue'): Promise<ShownVolume | null> {
    const own = await findRow(op, VolumeEntity, { instanceId, role });
    return own && { ...own, attachments: [] };
  }

  async byId(op: Op, id: string): Promise<ShownVolume | null> {
    const found = new Conditions().equal('v.id', id);
    return (await rowsInOrder(op, VolumeEntity, found, { ...shown, order: 'v.id', limit: 1 }))[0] ?? null;
  }

  /** As `byId`, its row held until the transaction ends: who changes it comes one after the other. */
  async lock(op: Op, id: string): Promise<ShownVolume | null> {
    const held = await findRow(op, VolumeEntity, { id }, { lock: 'FOR UPDATE' });
    return held && this.byId(op, id);
  }

  /** At most two. A data volume comes before root volumes of its name, which are called as instances were. */
  async named(op: Op, projects: 'all' | readonly string[], name: string): Promise<ShownVolume[]> {
    const found = new Conditions().within('v.project_id', projects).equal('v.name', name);
    const rows = await rowsInOrder(op, VolumeEntity, found, { ...shown, order: 'v.role, v.id', limit: 3 });
    const data = rows.filter(({ role }) => role === 'data');
    return data.length > 0 ? data : rows;
  }

  /** Null when it is gone. Throws 409 `name_taken`; the transaction is lost then. */
  async change(
    op: Op,
    id: string,
    changes: Partial<Pick<VolumeEntity, 'state' | 'bytes' | 'name' | 'protected'>>,
  ): Promise<ShownVolume | null> {
    const update = updateRow(op, VolumeEntity, id, changes).catch((error: unknown) => {
      throw violatedUnique(error) === 'volume_name' ? nameTaken('volume', changes.name ?? '') : error;
    });
    const [, volume] = await atOnce(update, this.byId(op, id));
    return volume;
  }

  /** False when it is gone, or in none of these states any more. */
  async move(op: Op, id: string, from: readonly Volume['state'][], to: Volume['state']): Promise<boolean> {
    const rows = await op.query('UPDATE volume SET state = $3 WHERE id = $1 AND state = ANY($2::text[]) RETURNING id', [
      id,
      from,
      to,
    ]);
    return rows.length === 1;
  }

  /** Data volumes that the instance has, or is about to have, by position. */
  async attachedTo(op: Op, instanceId: string): Promise<AttachedVolume[]> {
    return op.query<AttachedVolume & Record<string, unknown>>(
      `SELECT a.volume_id AS "volumeId", v.pool, a.position, a.mode = 'ro' AS readonly
       FROM volume_attachment a JOIN volume v ON v.id = a.volume_id WHERE a.instance_id = $1 ORDER BY a.position`,
      [instanceId],
    );
  }

  async attach(op: Op, volumeId: string, instanceId: string, position: number, readonly: boolean): Promise<void> {
    const mode = readonly ? 'ro' : 'rw';
    await insertRow(op, VolumeAttachmentEntity, { volumeId, instanceId, position, mode });
  }

  /** False when it was not attached. */
  async detach(op: Op, volumeId: string, instanceId: string): Promise<boolean> {
    return (await removeRows(op, VolumeAttachmentEntity, { volumeId, instanceId })) > 0;
  }

  async remove(op: Op, id: string): Promise<void> {
    await removeRows(op, VolumeEntity, { id });
  }

  list(
    op: Op,
    projects: 'all' | readonly string[],
    { limit, cursor, q, instance, role }: z.output<typeof volumeListQuery>,
  ): Promise<{ rows: ShownVolume[]; next: string | null }> {
    const found = new Conditions().within('v.project_id', projects).equal('v.role', role);
    if (instance !== undefined) {
      const id = found.bind(instance);
      found.add(
        `v.id IN (SELECT id FROM volume WHERE instance_id = ${id} UNION ALL SELECT volume_id FROM volume_attachment WHERE instance_id = ${id})`,
      );
    }
    found.search(q, { ids: ['v.id', 'v.instance_id'], texts: ['v.name'] });
    return keysetPage(op, VolumeEntity, found, {
      ...newestFirst,
      ...shown,
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

  /** Volumes on the host that go with no instance. */
  onHost(op: Op, hostId: string, limit: number): Promise<VolumesFound> {
    return this.found(op, `role = 'data' AND host_id = $1`, hostId, limit);
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
