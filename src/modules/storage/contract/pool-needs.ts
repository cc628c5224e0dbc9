import { storeKey, type HostNeed } from '../../host/contract/host-needs';

/** Where a disk in the pool of this name lies on its host. */
export const poolStore = (pool: string): { key: string; words: string } => ({
  key: storeKey('pools', pool),
  words: `the pool "${pool}"`,
});

const noRootPool = 'No host has the storage pool that root disks are made in. Ask an administrator.';

/**
 * A host that has the pool.
 * @param saying what tenants are told when none has
 */
export const poolNeed = (pool: string, saying = noRootPool): HostNeed => ({
  code: 'pool',
  key: pool,
  saying,
  refuses: ({ pools = [] }) =>
    pools.some(({ name }) => name === pool) ? undefined : `it has no storage pool "${pool}"`,
});
