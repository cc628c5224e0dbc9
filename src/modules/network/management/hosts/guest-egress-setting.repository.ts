import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';

/** Seconds of silence after which a process counts as gone. It shows itself every few seconds. */
const silentSeconds = 30;

@injectable()
export class GuestEgressSettingRepository {
  /**
   * Shows this process with its setting; processes that are gone are forgotten. How many different settings there are
   * now.
   */
  async show(op: Op, process: string, digest: string): Promise<number> {
    await op.query(
      `DELETE FROM guest_egress_setting WHERE seen_at < now() - make_interval(secs => $1) AND process <> $2`,
      [silentSeconds, process],
    );
    await op.query(
      `INSERT INTO guest_egress_setting (process, digest, seen_at) VALUES ($1, $2, now()) ON CONFLICT (process) DO UPDATE SET digest = $2, seen_at = now()`,
      [process, digest],
    );
    const [row] = await op.query<{ settings: number }>(
      'SELECT count(DISTINCT digest)::int AS settings FROM guest_egress_setting',
    );
    return row?.settings ?? 1;
  }

  async leave(op: Op, process: string): Promise<void> {
    await op.query('DELETE FROM guest_egress_setting WHERE process = $1', [process]);
  }
}
