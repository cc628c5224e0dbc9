import type { ContainerModuleLoadOptions } from 'inversify';
import { Jobs } from './jobs';
import { RedisClients } from '../redis/redis-clients';

/** Jobs of the management role. Service to start: Jobs. `RedisClients.close()` comes last of all. */
export const bindJobs = ({ bind }: ContainerModuleLoadOptions): void => {
  for (const service of [RedisClients, Jobs]) bind<object>(service).toSelf().inSingletonScope();
};
