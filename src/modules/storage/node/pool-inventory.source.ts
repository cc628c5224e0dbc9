import { injectable } from 'inversify';
import { InventorySource } from '../../host/contract/host.ports';
import { Pools } from './pools';

@injectable()
export class PoolInventorySource extends InventorySource {
  readonly part = 'pools';

  constructor(private readonly pools: Pools) {
    super();
  }

  override collect(): Promise<unknown> {
    return Promise.all(
      this.pools.all().map(async (pool) => ({ name: pool.name, driver: pool.kind, ...(await pool.capacity()) })),
    );
  }
}
