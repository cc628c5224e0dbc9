import type { Op } from '../../../core/db/rows/op';
import type { ClaimedOfNode } from '../../host/contract/host.ports';
import type { CpuClaim } from '../contract/scheduler.ports';

interface ClaimRow {
  node: number;
  cpus: number;
  memory_bytes: string;
}

const claimOf = ({ node, cpus, memory_bytes }: ClaimRow): CpuClaim => ({
  node,
  cpus,
  memoryBytes: Number(memory_bytes),
});

/**
 * CPUs that instances have for themselves. Who claims some holds the row of the host in `host_usage`: of parallel claims
 * one reads the sums after the other has written. They go with the claim of their instance.
 */
export class CpuClaims {
  /** Sums by NUMA node. */
  async onHost(op: Op, hostId: string): Promise<Record<string, ClaimedOfNode>> {
    const rows: ClaimRow[] = await op.query(
      'SELECT node, sum(cpus)::int AS cpus, sum(memory_bytes) AS memory_bytes FROM cpu_claim WHERE host_id = $1 GROUP BY node',
      [hostId],
    );
    return Object.fromEntries(rows.map(claimOf).map(({ node, cpus, memoryBytes }) => [node, { cpus, memoryBytes }]));
  }

  async of(op: Op, instanceId: string): Promise<CpuClaim[]> {
    const rows: ClaimRow[] = await op.query(
      'SELECT node, cpus, memory_bytes FROM cpu_claim WHERE instance_id = $1 ORDER BY node',
      [instanceId],
    );
    return rows.map(claimOf);
  }

  /** Until the transaction ends nobody else claims any of the host. */
  async lock(op: Op, hostId: string): Promise<void> {
    await op.query('SELECT host_id FROM host_usage WHERE host_id = $1 FOR NO KEY UPDATE', [hostId]);
  }

  /** Instead of those that it has. */
  async put(op: Op, instanceId: string, claims: readonly CpuClaim[]): Promise<void> {
    await op.query('DELETE FROM cpu_claim WHERE instance_id = $1', [instanceId]);
    if (claims.length === 0) return;
    await op.query(
      `INSERT INTO cpu_claim (instance_id, host_id, node, cpus, memory_bytes)
       SELECT c.instance_id, c.host_id, w.node, w.cpus, w.memory FROM host_claim c,
         unnest($2::integer[], $3::integer[], $4::bigint[]) AS w(node, cpus, memory) WHERE c.instance_id = $1`,
      [
        instanceId,
        claims.map(({ node }) => node),
        claims.map(({ cpus }) => cpus),
        claims.map(({ memoryBytes }) => memoryBytes),
      ],
    );
  }
}
