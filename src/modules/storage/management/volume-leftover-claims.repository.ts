import { injectable } from 'inversify';
import type { Op } from '../../../core/db/rows/op';
import { LeftoverClaims } from '../../host/contract/host.ports';

/** Volumes, and those that are deleted and still to be taken off their host. */
@injectable()
export class VolumeLeftoverClaims extends LeftoverClaims {
  override async onHost(op: Op, hostId: string): Promise<string[]> {
    const rows = await op.query<{ id: string }>(
      `SELECT id FROM volume WHERE host_id = $1
       UNION SELECT volume_id FROM volume_tombstone WHERE host_id = $1`,
      [hostId],
    );
    return rows.map(({ id }) => id);
  }

  override async existing(op: Op, ids: readonly string[]): Promise<string[]> {
    const rows = await op.query<{ id: string }>(
      `SELECT id FROM volume WHERE id = ANY($1::uuid[])
       UNION SELECT volume_id FROM volume_tombstone WHERE volume_id = ANY($1::uuid[])`,
      [ids],
    );
    return rows.map(({ id }) => id);
  }
}
