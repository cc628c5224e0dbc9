import type { ContainerModuleLoadOptions } from 'inversify';
import { Jobs } from './jobs';
import { Pruning } from './pruning.service';
import { RedisClients } from './redis-clients';

/** Jobs of the management role. Services to start: Jobs, Pruning. `RedisClients.close()` comes last of all. */
export const bindJobs = ({ bind }: ContainerModuleLoadOptions): void => {
  for (const service of [RedisClients, Jobs, Pruning]) bind<object>(service).toSelf().inSingletonScope();
};
