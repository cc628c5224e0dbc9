import type { FieldError, HostVerdict } from './types';

/** A refusal or failure of the API, from its RFC 9457 problem document. `status` 0: the server could not be reached. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly errors: FieldError[] = [],
    readonly requestId: string | null = null,
    /** Why each host was refused, for `no_host`. */
    readonly hosts: HostVerdict[] = [],
    /** The running task that a `task_running` conflict names. */
    readonly taskId: string | null = null,
  ) {
    super(detail);
    this.name = 'ApiError';
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

const fallback = (status: number): string => {
  if (status === 401) return 'You are not signed in.';
  if (status === 403) return 'You may not do this.';
  if (status === 404) return 'This does not exist, or not any more.';
  if (status === 413) return 'This is larger than the server accepts.';
  if (status === 429) return 'Too many requests. Wait a moment and try again.';
  if (status >= 500) return `The server could not do this (${status}).`;
  return `The request was refused (${status}).`;
};

/** Builds the error of a response. `body` is whatever was parsed from it. */
export const problemOf = (status: number, body: unknown, requestHeader: string | null): ApiError => {
  const doc = isRecord(body) ? body : {};
  const errors = Array.isArray(doc.errors)
    ? doc.errors.filter(isRecord).map((e) => ({
        path: text(e.path) ?? '',
        code: text(e.code) ?? 'invalid',
        message: text(e.message) ?? 'not accepted',
      }))
    : [];
  const hosts = Array.isArray(doc.hosts)
    ? doc.hosts.filter(isRecord).map((h) => ({
        hostId: text(h.hostId) ?? '',
        host: text(h.host) ?? '',
        fits: h.fits === true,
        code: text(h.code) ?? '',
        reason: text(h.reason) ?? '',
      }))
    : [];
  const task = isRecord(doc.task) ? text(doc.task.id) : text(doc.task);
  return new ApiError(
    status,
    text(doc.code) ?? `http_${status}`,
    text(doc.detail) ?? text(doc.title) ?? fallback(status),
    errors,
    text(doc.requestId) ?? requestHeader,
    hosts,
    task,
  );
};

export const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError(0, 'client_error', error instanceof Error ? error.message : 'Something went wrong.');

/** Messages by form field: the first segment below `body`. What names no field is under the empty string. */
export const fieldErrors = (error: ApiError | null): Record<string, string> => {
  const found: Record<string, string> = {};
  for (const e of error?.errors ?? []) {
    const field = e.path.replace(/^body\.?/, '').split('.')[0] ?? '';
    // What is about one field only says it best in its own sentence.
    const message = error?.code === e.code ? error.detail : e.message;
    found[field] = found[field] === undefined ? message : `${found[field]}; ${message}`;
  }
  return found;
};
