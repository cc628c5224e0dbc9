import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Problem } from '../../errors/problem';

/** RFC 9457, with the stable `code`, the request id and field errors. Extra members never replace the standard ones. */
export const problemDocument = (problem: Problem, instance: string, requestId: string): Record<string, unknown> => {
  const { retryAfterSeconds: _, ...extra } = problem.extra;
  return {
    ...extra,
    type: `urn:vc-stack:problem:${problem.code}`,
    title: STATUS_CODES[problem.status] ?? 'Error',
    status: problem.status,
    code: problem.code,
    detail: problem.detail,
    instance,
    requestId,
    ...(problem.errors.length > 0 && { errors: problem.errors }),
  };
};

/** Headers that go with a problem: `WWW-Authenticate`, `Retry-After` (from `extra.retryAfterSeconds`), media type. */
export const problemHeaders = (problem: Problem): Record<string, string> => {
  const after = problem.extra['retryAfterSeconds'];
  return {
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
    ...(problem.status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(typeof after === 'number' && { 'retry-after': String(Math.ceil(after)) }),
  };
};

/**
 * Answers with the problem; cuts the connection when an answer has begun already, and leaves one alone that is
 * complete.
 */
export const sendProblem = (res: ServerResponse, problem: Problem, instance: string, requestId: string): void => {
  if (res.headersSent) {
    if (!res.writableEnded) res.destroy();
    return;
  }
  for (const name of res.getHeaderNames())
    if (name === 'content-encoding' || name === 'etag' || name === 'content-length') res.removeHeader(name);
  const headers = problemHeaders(problem);
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.statusCode = problem.status;
  res.end(JSON.stringify(problemDocument(problem, instance, requestId)));
};
