import { databaseIsAway, sqlState, violatedUnique } from '../../db/sql-state';
import { databaseUnavailable, nameIsTaken, Problem } from '../../errors/problem';

interface BodyParserError {
  type: string;
  status: number;
}

const isBodyParserError = (error: object): error is BodyParserError =>
  'type' in error && typeof error.type === 'string' && 'status' in error && typeof error.status === 'number';

const bodyProblem = (error: BodyParserError): Problem | null => {
  switch (error.type) {
    case 'entity.too.large':
      return new Problem({ status: 413, code: 'body_too_large', detail: 'The body is larger than this server takes.' });
    case 'entity.parse.failed':
      return new Problem({ status: 400, code: 'malformed_json', detail: 'The body is not valid JSON.' });
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return new Problem({
        status: 415,
        code: 'unsupported_media_type',
        detail: 'The body must be JSON in UTF-8, plain or compressed with gzip, deflate or br.',
      });
    case 'request.aborted':
    case 'request.size.invalid':
      return new Problem({
        status: 400,
        code: 'incomplete_body',
        detail: 'The body ended before its announced length.',
      });
    default:
      return error.status === 400
        ? new Problem({ status: 400, code: 'malformed_body', detail: 'The body cannot be read.' })
        : null;
  }
};

/** Serialization failure or deadlock: the transaction may succeed when run again. */
export const isRetryable = (error: unknown): boolean => {
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
};

const databaseProblem = (error: object): Problem | null => {
  if (databaseIsAway(error)) return databaseUnavailable();
  const state = sqlState(error);
  if (state === undefined) return null;
  const unique = violatedUnique(error);
  // The name of a unique constraint says what it is about, whoever ran against it: `<table>_name`.
  if (unique !== undefined && /_name(_key)?$/.test(unique)) return nameIsTaken();
  if (state === '23505' || state === '23P01')
    return new Problem({ status: 409, code: 'conflict', detail: 'This conflicts with something that exists already.' });
  if (state === '23503')
    return new Problem({
      status: 409,
      code: 'conflict',
      detail: 'This is in use, or refers to something that no longer exists.',
    });
  if (state === '23514' || state.startsWith('22'))
    return new Problem({ status: 422, code: 'unacceptable', detail: 'A value is outside of what can be stored.' });
  if (state === '40001' || state === '40P01' || state === '55P03' || state === '57014') {
    return new Problem({
      status: 503,
      code: 'busy',
      detail: 'Too much was going on at the same time. Try again.',
      extra: { retryAfterSeconds: 1 },
    });
  }
  return null;
};

/** What an error means to the caller; null when it is unexpected (a fault of ours: 500). */
export const problemOf = (error: unknown): Problem | null => {
  if (error instanceof Problem) return error;
  if (typeof error !== 'object' || error === null) return null;
  if (error instanceof URIError)
    return new Problem({ status: 400, code: 'malformed_path', detail: 'The path is not validly encoded.' });
  return databaseProblem(error) ?? (isBodyParserError(error) ? bodyProblem(error) : null);
};
