import type { ContainerModuleLoadOptions } from 'inversify';
import { ClusterTurns } from './cluster-turns';
import { PeriodicMetrics } from './periodic-metrics';
import { PeriodicTurnRepository } from './periodic-turn.repository';
import { Periodic } from './periodic.service';

/** Periodic work of the management role. */
export const bindPeriodic = ({ bind }: Pick<ContainerModuleLoadOptions, 'bind'>): void => {
  for (const part of [Periodic, PeriodicMetrics]) bind<object>(part).toSelf().inSingletonScope();
  bind(ClusterTurns).to(PeriodicTurnRepository).inSingletonScope();
};
