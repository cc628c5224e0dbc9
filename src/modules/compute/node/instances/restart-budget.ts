import type { Config } from '../../../../core/config/config';
import type { ComputeConfig } from '../../contract/compute.config';
import type { Budget } from './guest-life';

/** Of the configuration: how often an instance may start again, by its policy or by itself, before it is too often. */
export const restartBudget = (config: Config): Budget => {
  const { count, windowSeconds } = config.section<ComputeConfig>('compute').restarts;
  return { count, windowMs: windowSeconds * 1000 };
};
