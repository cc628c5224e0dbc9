import { Container, ContainerModule, type ContainerModuleLoadOptions, type Newable } from 'inversify';
import type { Config } from '../config/config';
import { Config as ConfigToken } from '../config/config';
import { StatePaths } from '../config/state-paths';
import { Logging } from '../telemetry/logging';
import { Metrics } from '../telemetry/metrics';

export type Bind = (options: ContainerModuleLoadOptions) => void;

/** A role's own container: two roles in one process share nothing but the process. */
export const roleContainer = (config: Config, logging: Logging, paths: StatePaths): Container => {
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(ConfigToken).toConstantValue(config);
  container.bind(Logging).toConstantValue(logging);
  container.bind(StatePaths).toConstantValue(paths);
  container.bind(Metrics).toSelf().inSingletonScope();
  return container;
};

export const load = (container: Container, ...binds: Bind[]): void => {
  for (const bind of binds) container.load(new ContainerModule(bind));
};

export const getAll = <T>(container: Container, classes: readonly Newable<T>[]): T[] =>
  classes.map((c) => container.get<T>(c));
