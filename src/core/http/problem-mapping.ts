import { Problem } from '../errors/problem';

interface BodyParserError {
  type: string;
  status: number;
}

const isBodyParserError = (error: object): error is BodyParserError => 'type' in error && typeof error.type === 'string' && 'status' in error && typeof error.status === 'number';

const bodyProblem = (error: BodyParserError): Problem | null => {
  switch (error.type) {
    case 'entity.too.large':
      return new Problem({ status: 413, code: 'body_too_large', detail: 'The body is larger than this server takes.' });
    case 'entity.parse.failed':
      return new Problem({ status: 400, code: 'malformed_json', detail: 'The body is not valid JSON.' });
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return new Problem({ status: 415, code: 'unsupported_media_type', detail: 'The body must be JSON in UTF-8, plain or compressed with gzip, deflate or br.' });
    case 'request.aborted':
    case 'request.size.invalid':
      return new Problem({ status: 400, code: 'incomplete_body', detail: 'The body ended before its announced length.' });
    default:
      return error.status === 400 ? new Problem({ status: 400, code: 'malformed_body', detail: 'The body cannot be read.' }) : null;
  }
};

/** The SQLSTATE of a database error, from TypeORM's wrapper or from pg itself. */
export const sqlState = (error: unknown): string | undefined => {
  if (typeof error !== 'object' || error === null) return undefined;
  const inner: unknown = 'driverError' in error ? error.driverError : error;
  if (typeof inner !== 'object' || inner === null || !('code' in inner)) return undefined;
  return typeof inner.code === 'string' && /^[0-9A-Z]{5}$/.test(inner.code) && 'severity' in inner ? inner.code : undefined;
};

/** Serialization failure or deadlock: the transaction may succeed when run again. */
export const isRetryable = (error: unknown): boolean => {
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
};

const unavailable = (): Problem => new Problem({ status: 503, code: 'database_unavailable', detail: 'The database cannot be reached at the moment. Try again.', extra: { retryAfterSeconds: 2 } });

const databaseProblem = (error: object): Problem | null => {
  const state = sqlState(error);
  if (state === undefined) {
    const inner: unknown = 'driverError' in error ? error.driverError : error;
    const { code, message } = (inner ?? {}) as { code?: unknown; message?: unknown };
    const lost = typeof message === 'string' && (/^timeout exceeded when trying to connect/.test(message) || /^Connection terminated/.test(message));
    const refused = 'driverError' in error && typeof code === 'string' && /^E(CONNREFUSED|CONNRESET|PIPE|NOENT|TIMEDOUT|HOSTUNREACH)$/.test(code);
    const dial = typeof code === 'string' && code === 'ECONNREFUSED' && 'syscall' in error && error.syscall === 'connect';
    return lost || refused || dial ? unavailable() : null;
  }
  if (state === '23505' || state === '23P01') return new Problem({ status: 409, code: 'conflict', detail: 'This conflicts with something that exists already.' });
  if (state === '23503') return new Problem({ status: 409, code: 'conflict', detail: 'This is in use, or refers to something that no longer exists.' });
  if (state === '23514' || state.startsWith('22')) return new Problem({ status: 422, code: 'unacceptable', detail: 'A value is outside of what can be stored.' });
  if (state === '40001' || state === '40P01' || state === '55P03' || state === '57014') {
    return new Problem({ status: 503, code: 'busy', detail: 'Too much was going on at the same time. Try again.', extra: { retryAfterSeconds: 1 } });
  }
  return state.startsWith('08') || state.startsWith('57P') || state === '53300' ? unavailable() : null;
};

/** What an error means to the caller; null when it is unexpected (a fault of ours: 500). */
export const problemOf = (error: unknown): Problem | null => {
  if (error instanceof Problem) return error;
  if (typeof error !== 'object' || error === null) return null;
  if (error instanceof URIError) return new Problem({ status: 400, code: 'malformed_path', detail: 'The path is not validly encoded.' });
  return databaseProblem(error) ?? (isBodyParserError(error) ? bodyProblem(error) : null);
};
