import type { CpuClaim } from './scheduler.ports';

/** Of each node the larger claim of both: who holds it can go either way. */
export const largerClaims = (one: readonly CpuClaim[], other: readonly CpuClaim[]): CpuClaim[] =>
  [...new Set([...one, ...other].map(({ node }) => node))]
    .sort((a, b) => a - b)
    .map((node) => {
      const [a, b] = [one, other].map((claims) => claims.find((claim) => claim.node === node));
      return {
        node,
        cpus: Math.max(a?.cpus ?? 0, b?.cpus ?? 0),
        memoryBytes: Math.max(a?.memoryBytes ?? 0, b?.memoryBytes ?? 0),
      };
    });
