import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import { crashed } from '../drivers/vmm-exit';
import type { InstanceRecord } from './instance-record';

/** Notes that an instance that should run could not be started by the host of itself. Only refusals are for users. */
export const startFailed = (record: InstanceRecord, words: string, error: unknown): void => {
  record.exit = crashed('start-failed', error instanceof VerbFailure ? `${words}: ${error.message}` : words);
  record.exitAt = new Date().toISOString();
};
