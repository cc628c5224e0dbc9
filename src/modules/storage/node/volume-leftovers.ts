import { rm } from 'node:fs/promises';
import { injectable, multiInject, optional } from 'inversify';
import { VerbFailure } from '../../../core/m2m/verbs/verb-handler';
import { type FoundLeftover, LeftoverSource } from '../../host/contract/host.ports';
import { VolumeUse } from '../contract/storage.ports';
import type { PoolDriver, PoolFile } from './drivers/pool.driver';
import { Pools } from './pools';

/**
 * Files in pools that bear the name of a volume and that nothing on record here has. A host keeps no record of its
 * volumes, so which of them are in use by right is for management to say.
 */
@injectable()
export class VolumeLeftovers extends LeftoverSource {
  readonly name = 'volumes';

  constructor(
    private readonly pools: Pools,
    @multiInject(VolumeUse) @optional() private readonly users: VolumeUse[] = [],
  ) {
    super();
  }

  override async find(signal: AbortSignal): Promise<FoundLeftover[]> {
    const found: FoundLeftover[] = [];
    for (const pool of this.pools.all()) {
      signal.throwIfAborted();
      const files = (await pool.files()).filter(({ volumeId }) => !this.inUse(volumeId));
      found.push(...files.map((file) => this.leftover(pool, file)));
    }
    return found;
  }

  private leftover(pool: PoolDriver, file: PoolFile): FoundLeftover {
    const { volumeId, name, mark, modifiedAt, bytes } = file;
    return {
      kind: 'volume',
      name: `${pool.name}/${name}`,
      mark,
      owner: 'volume',
      ownerId: volumeId,
      since: modifiedAt.toISOString(),
      bytes,
      holds: [],
      clear: () => this.clear(pool, file),
    };
  }

  /** That file alone. */
  private clear(pool: PoolDriver, { volumeId, name, mark }: PoolFile): Promise<void> {
    return this.pools.exclusively(volumeId, async () => {
      if (this.inUse(volumeId))
        throw new VerbFailure('leftover_known', `The volume ${volumeId} belongs to an instance by now.`, true);
      const now = (await pool.files()).find((file) => file.name === name);
      if (!now) return;
      if (now.mark !== mark)
        throw new VerbFailure('leftover_changed', `The volume ${volumeId} was written to since it was listed.`, true);
      await rm(now.path, { force: true });
    });
  }

  private inUse(volumeId: string): boolean {
    return this.users.some((user) => user.uses(volumeId));
  }
}
