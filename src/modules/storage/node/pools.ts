import { injectable } from 'inversify';
import { Service } from '../../../core/lifecycle/service';
import { Config } from '../../../core/config/config';
import { KeyedMutex } from '../../../core/host/keyed-mutex';
import { StatePaths } from '../../../core/config/state-paths';
import { VerbFailure } from '../../../core/m2m/verbs/verb-handler';
import type { StorageConfig } from '../contract/storage.config';
import { LocalPoolDriver } from './drivers/local-pool.driver';
import type { PoolDriver } from './drivers/pool.driver';
import { SimulatedPoolDriver } from './drivers/simulated-pool.driver';

/** The pools of this host, by name, as configured. */
@injectable()
export class Pools extends Service {
  private readonly byName: ReadonlyMap<string, PoolDriver>;
  private readonly mutex = new KeyedMutex();

  constructor(config: Config, paths: StatePaths) {
    super();
    const { driver, pools, simulatedBytes } = config.section<StorageConfig>('storage');
    this.byName = new Map(
      pools.map(({ name, path }) => {
        const directory = path === '' ? paths.stateDir('pools', name) : path;
        return [
          name,
          driver === 'simulated'
            ? new SimulatedPoolDriver(name, directory, simulatedBytes)
            : new LocalPoolDriver(name, directory),
        ];
      }),
    );
  }

  override async start(): Promise<void> {
    for (const pool of this.byName.values()) await pool.open();
  }

  override async stop(): Promise<void> {
    await Promise.resolve();
  }

  all(): PoolDriver[] {
    return [...this.byName.values()];
  }

  /** One at a time for each volume. */
  exclusively<T>(volumeId: string, work: () => Promise<T>): Promise<T> {
    return this.mutex.run(volumeId, work);
  }

  /** Throws `VerbFailure` `unknown_pool`. */
  require(name: string): PoolDriver {
    const pool = this.byName.get(name);
    if (!pool) throw new VerbFailure('unknown_pool', `This host has no pool "${name}".`, true);
    return pool;
  }
}
