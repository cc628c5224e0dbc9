const errorOf = (error: unknown): { code?: unknown; message?: unknown; severity?: unknown; constraint?: unknown } | undefined => {
  if (typeof error !== 'object' || error === null) return undefined;
  const inner: unknown = 'driverError' in error ? error.driverError : error;
  return typeof inner === 'object' && inner !== null ? inner : undefined;
};

/** The SQLSTATE of a database error, from TypeORM's wrapper or from pg itself. */
export const sqlState = (error: unknown): string | undefined => {
  const inner = errorOf(error);
  return typeof inner?.code === 'string' && /^[0-9A-Z]{5}$/.test(inner.code) && inner.severity !== undefined ? inner.code : undefined;
};

/** The unique constraint or index that a statement ran against; undefined for any other error. */
export const violatedUnique = (error: unknown): string | undefined => {
  const inner = errorOf(error);
  return sqlState(error) === '23505' && typeof inner?.constraint === 'string' ? inner.constraint : undefined;
};

/** The database cannot be reached, or went away in the middle: what was asked may be asked again, and whether it was done is unknown. */
export const databaseIsAway = (error: unknown): boolean => {
  const state = sqlState(error);
  // Connection exception, operator intervention, too many connections.
  if (state !== undefined) return state.startsWith('08') || state.startsWith('57P') || state === '53300';
  const { code, message } = errorOf(error) ?? {};
  if (typeof message === 'string' && /^(timeout exceeded when trying to connect|Connection terminated)/.test(message)) return true;
  if (typeof error !== 'object' || error === null || typeof code !== 'string') return false;
  if ('driverError' in error) return /^E(CONNREFUSED|CONNRESET|PIPE|NOENT|TIMEDOUT|HOSTUNREACH)$/.test(code);
  return code === 'ECONNREFUSED' && 'syscall' in error && error.syscall === 'connect';
};
