import { storeKey, type HostNeed } from '../../host/contract/host-needs';

/** Where a disk in the pool of this name lies on its host. */
export const poolStore = (pool: string): { key: string; words: string } => ({
  key: storeKey('pools', pool),
  words: `the pool "${pool}"`,
});

/** A host that has the pool. */
export const poolNeed = (pool: string): HostNeed => ({
  code: 'pool',
  key: pool,
  saying: 'No host has the storage pool that root disks are made in. Ask an administrator.',
  refuses: ({ pools = [] }) =>
    pools.some(({ name }) => name === pool) ? undefined : `it has no storage pool "${pool}"`,
});
