import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';

/** As a host reported it. */
export interface Underlay {
  address: string;
  /** Bytes. */
  mtu: number;
}

export interface KnownUnderlay {
  hostId: string;
  address: string | null;
  mtu: number | null;
  usable: boolean;
}

/** SQL: the host and all that have ports of its networks are to hear of it. `host`: SQL for its id. */
const tellAll = (host: string, from: string): string => `
  told AS (INSERT INTO network_change (network_id, host_id)
    SELECT DISTINCT p.network_id, p.host_id FROM port p JOIN ${from} ON p.host_id = ${host} WHERE p.attached),
  due AS (INSERT INTO host_network_due (host_id, since) SELECT ${host}, clock_timestamp() FROM ${from} ORDER BY 1
    ON CONFLICT (host_id) DO UPDATE SET since = clock_timestamp())`;

/** Where hosts reach each other. */
@injectable()
export class UnderlayRepository {
  /** Takes what a host says of itself; null: other hosts do not reach it. */
  async report(op: Op, hostId: string, underlay: Underlay | null): Promise<void> {
    await op.query(
      `WITH noted AS (
         INSERT INTO host_underlay (host_id, address, mtu)
         SELECT $1, $2::inet, $3::integer WHERE NOT EXISTS (
           SELECT 1 FROM host_underlay WHERE host_id = $1 AND (address, mtu) IS NOT DISTINCT FROM ($2::inet, $3::integer))
         ON CONFLICT (host_id) DO UPDATE SET address = excluded.address, mtu = excluded.mtu RETURNING host_id),
       ${tellAll('noted.host_id', 'noted')}
       SELECT 1`,
      [hostId, underlay?.address ?? null, underlay?.mtu ?? null],
    );
  }

  known(op: Op): Promise<KnownUnderlay[]> {
    return op.query('SELECT host_id AS "hostId", host(address) AS address, mtu, usable FROM host_underlay ORDER BY 1');
  }

  /** Hosts that take part from here on, and those that do not. */
  async judge(op: Op, usable: readonly { hostId: string; usable: boolean }[]): Promise<void> {
    await op.query(
      `WITH judged AS (
         UPDATE host_underlay u SET usable = j.usable FROM unnest($1::uuid[], $2::boolean[]) AS j(host_id, usable)
          WHERE j.host_id = u.host_id AND j.usable <> u.usable RETURNING u.host_id),
       ${tellAll('judged.host_id', 'judged')}
       SELECT 1`,
      [usable.map(({ hostId }) => hostId), usable.map((one) => one.usable)],
    );
  }

  /** Hosts that are gone. */
  async forget(op: Op, hostIds: readonly string[]): Promise<void> {
    await op.query(
      `WITH due AS (DELETE FROM host_network_due WHERE host_id = ANY($1::uuid[])) DELETE FROM host_underlay WHERE host_id = ANY($1::uuid[])`,
      [hostIds],
    );
  }

  /** In bytes; 0 when there is no network. */
  async largestMtu(op: Op): Promise<number> {
    const [row] = await op.query<{ mtu: number | null }>('SELECT max(mtu) AS mtu FROM network');
    return row?.mtu ?? 0;
  }
}
