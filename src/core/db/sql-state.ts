import { connectionWords, misuseWords } from './library-internals';

const errorOf = (
  error: unknown,
): { code?: unknown; message?: unknown; severity?: unknown; constraint?: unknown } | undefined => {
  if (typeof error !== 'object' || error === null) return undefined;
  const inner: unknown = 'driverError' in error ? error.driverError : error;
  return typeof inner === 'object' && inner !== null ? inner : undefined;
};

/** The SQLSTATE of a database error, from TypeORM's wrapper or from pg itself. */
export const sqlState = (error: unknown): string | undefined => {
  const inner = errorOf(error);
  return typeof inner?.code === 'string' && /^[0-9A-Z]{5}$/.test(inner.code) && inner.severity !== undefined
    ? inner.code
    : undefined;
};

/** The unique constraint or index that a statement ran against; undefined for any other error. */
export const violatedUnique = (error: unknown): string | undefined => {
  const inner = errorOf(error);
  return sqlState(error) === '23505' && typeof inner?.constraint === 'string' ? inner.constraint : undefined;
};

/** The exclusion constraint that a statement would have broken, if that is what the error says. */
export const violatedExclusion = (error: unknown): string | undefined => {
  const inner = errorOf(error);
  return sqlState(error) === '23P01' && typeof inner?.constraint === 'string' ? inner.constraint : undefined;
};

/** Errors with which a connection to the database could not be made, whatever they say. */
const unconnected = new WeakSet<object>();

/** Remembers what a connection failed with: unlike a statement's, TypeORM passes such an error on bare. */
export const noteUnconnected = (error: unknown): void => {
  if (typeof error === 'object' && error !== null) unconnected.add(error);
};

/** What a transaction says that failed before its end, by a statement whose error was caught. */
export const rolledBackBefore = 'the transaction had failed before its commit: it was rolled back';

/**
 * Too many connections; a transaction of a process that stood still for too long, which the server ended with its
 * connection. Beside these whole classes: connection exceptions (08) and the operator's interventions (57P).
 */
const away = ['53300', '25P03', '25P04'];

/**
 * The database cannot be reached, or went away in the middle: what was asked may be asked again, and whether it was
 * done is unknown.
 */
export const databaseIsAway = (error: unknown): boolean => {
  if (typeof error === 'object' && error !== null && unconnected.has(error)) return true;
  const state = sqlState(error);
  if (state !== undefined) return state.startsWith('08') || state.startsWith('57P') || away.includes(state);
  if (typeof error !== 'object' || error === null) return false;
  const inner = errorOf(error);
  const message = typeof inner?.message === 'string' ? inner.message : '';
  if (connectionWords.test(message)) return true;
  // A statement that failed without the server's word failed by its connection, whatever the driver calls it, unless it
  // was never fit to be sent.
  if ('driverError' in error)
    return !(
      inner instanceof TypeError ||
      inner instanceof RangeError ||
      misuseWords.test(message) ||
      message === rolledBackBefore
    );
  return inner?.code === 'ECONNREFUSED' && 'syscall' in error && error.syscall === 'connect';
};
