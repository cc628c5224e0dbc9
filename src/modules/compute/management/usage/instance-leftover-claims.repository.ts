import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { LeftoverClaims } from '../../../host/contract/host.ports';

/** Instances, and those that are deleted and still to be taken off their host, with their disks. */
@injectable()
export class InstanceLeftoverClaims extends LeftoverClaims {
  override async onHost(op: Op, hostId: string): Promise<string[]> {
    const rows = await op.query<{ id: string }>(
      `SELECT id FROM instance WHERE host_id = $1
       UNION SELECT unnest(ARRAY[instance_id, volume_id]) FROM instance_tombstone WHERE host_id = $1`,
      [hostId],
    );
    return rows.flatMap(({ id }) => id ?? []);
  }

  override async existing(op: Op, ids: readonly string[]): Promise<string[]> {
    const rows = await op.query<{ id: string }>(
      `SELECT id FROM instance WHERE id = ANY($1::uuid[])
       UNION SELECT instance_id FROM instance_tombstone WHERE instance_id = ANY($1::uuid[])
       UNION SELECT volume_id FROM instance_tombstone WHERE volume_id = ANY($1::uuid[])`,
      [ids],
    );
    return rows.map(({ id }) => id);
  }
}
