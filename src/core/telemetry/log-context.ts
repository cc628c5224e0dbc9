import { AsyncLocalStorage } from 'node:async_hooks';

/** What every log line of a piece of work carries. */
export interface LogContext {
  requestId?: string;
  taskId?: string;
}

const storage = new AsyncLocalStorage<LogContext>();

/** Runs `fn`, and all that it awaits, with these fields on every log line; those of an outer context stay. */
export const withLogContext = <T>(fields: LogContext, fn: () => T): T => storage.run({ ...storage.getStore(), ...fields }, fn);

/** The fields in force here. */
export const currentLogContext = (): LogContext => storage.getStore() ?? {};
