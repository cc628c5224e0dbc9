import { injectable } from 'inversify';
import type { Op } from '../../../core/db/rows/op';
import type { ClaimedOfNode, ClaimedRoom, SchedulableHost } from '../../host/contract/host.ports';
import { type HugePages, noHugePages } from '../../host/contract/page-sizes';
import { placeCpus } from './cpu-placement';
import { storeBytes } from './filters';
import type { ClaimSize, DiskRequest, PlacementRequest } from '../contract/scheduler.ports';
import { CpuClaims } from './cpu-claims';

interface UsageRow {
  host_id: string;
  vcpus: string;
  memory_bytes: string;
  huge_2mib_bytes: string;
  huge_1gib_bytes: string;
  disk_bytes: string;
  stores: Record<string, number>;
  instances: number;
  nodes: Record<string, ClaimedOfNode> | null;
}

const pagesOf = (row: Pick<UsageRow, 'huge_2mib_bytes' | 'huge_1gib_bytes'>): HugePages => ({
  '2MiB': Number(row.huge_2mib_bytes),
  '1GiB': Number(row.huge_1gib_bytes),
});

const usageColumns = `u.host_id, u.vcpus, u.memory_bytes, u.huge_2mib_bytes, u.huge_1gib_bytes, u.disk_bytes, u.stores, u.instances, n.nodes`;
/** Few have CPUs of their own: their sums are made here. */
const withNodes = `LEFT JOIN (
    SELECT host_id, jsonb_object_agg(node, jsonb_build_object('cpus', cpus, 'memoryBytes', memory_bytes)) AS nodes FROM (
      SELECT host_id, node, sum(cpus) AS cpus, sum(memory_bytes) AS memory_bytes FROM cpu_claim GROUP BY host_id, node) s
    GROUP BY host_id) n ON n.host_id = u.host_id`;

const roomOf = (rows: readonly UsageRow[]): Map<string, ClaimedRoom> =>
  new Map(
    rows.map((r) => [
      r.host_id,
      {
        vcpus: Number(r.vcpus),
        nodes: r.nodes ?? {},
        memoryBytes: Number(r.memory_bytes),
        hugePages: pagesOf(r),
        diskBytes: Number(r.disk_bytes),
        stores: r.stores,
        instances: r.instances,
      },
    ]),
  );

/** In the order of the columns. */
const bySize = (pages: HugePages = noHugePages): [number, number] => [pages['2MiB'], pages['1GiB']];

/** Claims and their sums per host. The sum is changed by one guarded UPDATE, so parallel claims cannot overcommit. */
@injectable()
export class ClaimRepository {
  readonly cpus = new CpuClaims();

  async usage(op: Op, hostIds: string[]): Promise<Map<string, ClaimedRoom>> {
    const rows: UsageRow[] = await op.query(
      `SELECT ${usageColumns} FROM host_usage u ${withNodes} WHERE u.host_id = ANY($1)`,
      [hostIds],
    );
    return roomOf(rows);
  }

  async usageOfAll(op: Op): Promise<Map<string, ClaimedRoom>> {
    return roomOf(
      await op.query(`SELECT ${usageColumns} FROM host_usage u ${withNodes} WHERE u.instances > 0 OR u.disk_bytes > 0`),
    );
  }

  async hostOf(op: Op, instanceId: string): Promise<string | undefined> {
    const rows: { host_id: string }[] = await op.query('SELECT host_id FROM host_claim WHERE instance_id = $1', [
      instanceId,
    ]);
    return rows[0]?.host_id;
  }

  /**
   * False when the host has no room any more (another claim came first). Then nothing is written, and the host's row is
   * not kept locked either: two claims that each held a full host and waited for the other's would be a deadlock. Call
   * in a transaction.
   */
  async tryClaim(op: Op, host: SchedulableHost, request: PlacementRequest): Promise<boolean> {
    const [, room] = await Promise.all([op.query('SAVEPOINT claim'), this.take(op, host, request)]);
    const claimed = room && (await this.takeCpus(op, host, request));
    if (!claimed) await this.takeBack(op);
    return claimed;
  }

  /**
   * As `tryClaim`, with what `read` asks for at the same time. Where nothing was claimed: `held` says where the instance
   * has a claim already.
   */
  async claimReading<T>(
    op: Op,
    host: SchedulableHost,
    request: PlacementRequest,
    read: () => Promise<T>,
  ): Promise<{ held: string | undefined; now: T; claimed: boolean }> {
    const [before, savepoint, take] = await Promise.allSettled([
      read(),
      op.query('SAVEPOINT claim'),
      this.take(op, host, request),
    ]);
    for (const earlier of [before, savepoint]) if (earlier.status === 'rejected') throw earlier.reason;
    const now = (before as PromiseFulfilledResult<T>).value;
    if (take.status === 'fulfilled' && take.value && (await this.takeCpus(op, host, request)))
      return { held: undefined, now, claimed: true };
    await this.takeBack(op);
    // An instance has one claim: a second one is refused by its key.
    const held = await this.hostOf(op, request.instanceId);
    if (take.status === 'rejected' && held === undefined) throw take.reason;
    return { held, now, claimed: false };
  }

  /** Takes the last claim of this transaction back, and gives the host's row free. */
  async takeBack(op: Op): Promise<void> {
    await op.query('ROLLBACK TO SAVEPOINT claim');
  }

  /** Those that it asks for, of what the claims on the host have left; its row there is locked by now. */
  private async takeCpus(op: Op, host: SchedulableHost, { instanceId, cpus }: PlacementRequest): Promise<boolean> {
    if (!cpus) return true;
    const claims = placeCpus(host.nodes, await this.cpus.onHost(op, host.id), cpus);
    if (claims) await this.cpus.put(op, instanceId, claims);
    return claims !== null;
  }

  private async take(op: Op, host: SchedulableHost, request: PlacementRequest): Promise<boolean> {
    const rows: unknown[] = await op.query(
      `WITH room AS (
         INSERT INTO host_usage AS u (host_id, vcpus, memory_bytes, disk_bytes, stores, instances, huge_2mib_bytes, huge_1gib_bytes)
         VALUES ($1, $3::integer, $4::bigint, $5::bigint, jsonb_build_object($9::text, $5::bigint), 1, $10::bigint, $11::bigint)
         ON CONFLICT (host_id) DO UPDATE
           SET vcpus = u.vcpus + $3, memory_bytes = u.memory_bytes + $4, disk_bytes = u.disk_bytes + $5, instances = u.instances + 1,
             huge_2mib_bytes = u.huge_2mib_bytes + $10, huge_1gib_bytes = u.huge_1gib_bytes + $11,
             stores = u.stores || jsonb_build_object($9::text, coalesce((u.stores->>$9)::bigint, 0) + $5::bigint)
           WHERE u.vcpus + $3 <= $6 AND ($4 = 0 OR u.memory_bytes + $4 <= $7) AND coalesce((u.stores->>$9)::bigint, 0) + $5 <= $8
             AND ($10 = 0 OR u.huge_2mib_bytes + $10 <= $12) AND ($11 = 0 OR u.huge_1gib_bytes + $11 <= $13)
         RETURNING host_id)
       INSERT INTO host_claim (instance_id, host_id, vcpus, memory_bytes, disk_bytes, store, huge_2mib_bytes, huge_1gib_bytes)
       SELECT $2, host_id, $3, $4, $5, $9, $10, $11 FROM room RETURNING instance_id`,
      [
        host.id,
        request.instanceId,
        request.vcpus,
        request.memoryBytes,
        request.diskBytes,
        host.vcpus,
        host.memoryBytes,
        storeBytes(host, request.store) ?? 0,
        request.store.key,
        ...bySize(request.hugePages),
        ...bySize(host.hugePages),
      ],
    );
    return rows.length === 1;
  }

  /** What the instance holds, and where; undefined without a claim. */
  async of(
    op: Op,
    instanceId: string,
  ): Promise<(ClaimSize & { hugePages: HugePages; hostId: string; store: string }) | undefined> {
    const rows: (Omit<UsageRow, 'vcpus' | 'stores' | 'instances'> & { vcpus: number; store: string })[] =
      await op.query(
        'SELECT host_id, vcpus, memory_bytes, huge_2mib_bytes, huge_1gib_bytes, disk_bytes, store FROM host_claim WHERE instance_id = $1',
        [instanceId],
      );
    const [row] = rows;
    return (
      row && {
        hostId: row.host_id,
        vcpus: row.vcpus,
        memoryBytes: Number(row.memory_bytes),
        hugePages: pagesOf(row),
        diskBytes: Number(row.disk_bytes),
        store: row.store,
      }
    );
  }

  /**
   * False when the host has not enough left for what grows: then nothing is written. Whether there are so many CPUs was
   * looked at before, in the same transaction (`CpuClaims.lock`).
   */
  async resize(op: Op, instanceId: string, size: ClaimSize, host: ClaimSize): Promise<boolean> {
    const rows: unknown[] = await op.query(
      `WITH held AS (SELECT host_id, vcpus, memory_bytes, huge_2mib_bytes, huge_1gib_bytes, disk_bytes, store FROM host_claim WHERE instance_id = $1 FOR UPDATE),
       room AS (
         UPDATE host_usage u SET vcpus = u.vcpus + $2 - held.vcpus, memory_bytes = u.memory_bytes + $3 - held.memory_bytes,
           disk_bytes = u.disk_bytes + $4 - held.disk_bytes,
           huge_2mib_bytes = u.huge_2mib_bytes + $8 - held.huge_2mib_bytes, huge_1gib_bytes = u.huge_1gib_bytes + $9 - held.huge_1gib_bytes,
           stores = u.stores || jsonb_build_object(held.store, (u.stores->>held.store)::bigint + $4::bigint - held.disk_bytes)
         FROM held WHERE u.host_id = held.host_id
           AND ($2 <= held.vcpus OR u.vcpus + $2 - held.vcpus <= $5)
           AND ($3 <= held.memory_bytes OR u.memory_bytes + $3 - held.memory_bytes <= $6)
           AND ($4 <= held.disk_bytes OR (u.stores->>held.store)::bigint + $4::bigint - held.disk_bytes <= $7)
           AND ($8 <= held.huge_2mib_bytes OR u.huge_2mib_bytes + $8 - held.huge_2mib_bytes <= $10)
           AND ($9 <= held.huge_1gib_bytes OR u.huge_1gib_bytes + $9 - held.huge_1gib_bytes <= $11)
         RETURNING u.host_id)
       UPDATE host_claim c SET vcpus = $2, memory_bytes = $3, disk_bytes = $4, huge_2mib_bytes = $8, huge_1gib_bytes = $9
       FROM room WHERE c.instance_id = $1 RETURNING c.instance_id`,
      [
        instanceId,
        ...[size.vcpus, size.memoryBytes, size.diskBytes],
        ...[host.vcpus, host.memoryBytes, host.diskBytes],
        ...bySize(size.hugePages),
        ...bySize(host.hugePages),
      ],
    );
    if (rows.length === 1 && size.cpus) await this.cpus.put(op, instanceId, size.cpus);
    return rows.length === 1;
  }

  async release(op: Op, instanceId: string): Promise<void> {
    await op.query(
      `WITH gone AS (DELETE FROM host_claim WHERE instance_id = $1 RETURNING host_id, vcpus, memory_bytes, huge_2mib_bytes, huge_1gib_bytes, disk_bytes, store)
       UPDATE host_usage u SET vcpus = u.vcpus - gone.vcpus, huge_2mib_bytes = u.huge_2mib_bytes - gone.huge_2mib_bytes,
         huge_1gib_bytes = u.huge_1gib_bytes - gone.huge_1gib_bytes, memory_bytes = u.memory_bytes - gone.memory_bytes,
         disk_bytes = u.disk_bytes - gone.disk_bytes, instances = u.instances - 1,
         stores = u.stores || jsonb_build_object(gone.store, (u.stores->>gone.store)::bigint - gone.disk_bytes)
       FROM gone WHERE u.host_id = gone.host_id`,
      [instanceId],
    );
  }

  /**
   * Room for a disk that belongs to no instance. False when the host has none any more: then nothing is written, and the
   * host's row is not kept locked (see `tryClaim`).
   */
  async tryClaimDisk(op: Op, host: SchedulableHost, { volumeId, bytes, store }: DiskRequest): Promise<boolean> {
    await op.query('SAVEPOINT claim');
    const rows: unknown[] = await op.query(
      `WITH room AS (
         INSERT INTO host_usage AS u (host_id, disk_bytes, stores)
         VALUES ($1, $3, jsonb_build_object($4::text, $3::bigint))
         ON CONFLICT (host_id) DO UPDATE
           SET disk_bytes = u.disk_bytes + $3, stores = u.stores || jsonb_build_object($4::text, coalesce((u.stores->>$4)::bigint, 0) + $3::bigint)
           WHERE coalesce((u.stores->>$4)::bigint, 0) + $3 <= $5
         RETURNING host_id)
       INSERT INTO disk_claim (volume_id, host_id, bytes, store) SELECT $2, host_id, $3, $4 FROM room RETURNING volume_id`,
      [host.id, volumeId, bytes, store.key, storeBytes(host, store) ?? 0],
    );
    if (rows.length === 0) await this.takeBack(op);
    return rows.length === 1;
  }

  async releaseDisk(op: Op, volumeId: string): Promise<void> {
    await op.query(
      `WITH gone AS (DELETE FROM disk_claim WHERE volume_id = $1 RETURNING host_id, bytes, store)
       UPDATE host_usage u SET disk_bytes = u.disk_bytes - gone.bytes,
         stores = u.stores || jsonb_build_object(gone.store, (u.stores->>gone.store)::bigint - gone.bytes)
       FROM gone WHERE u.host_id = gone.host_id`,
      [volumeId],
    );
  }
}
