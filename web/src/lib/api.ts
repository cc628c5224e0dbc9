import { clockTime } from './format';
import { ApiError, problemOf } from './problem';
import { reachability } from './reachability';
import { freshToken, refresh, session } from './session';

export type Query = Record<string, string | number | undefined>;

const url = (path: string, query: Query = {}): string => {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(key, String(value));
  const tail = search.toString();
  return `/api/v1${path}${tail === '' ? '' : `?${tail}`}`;
};

interface RequestOptions {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
}

/**
 * A change is never kept for later: what the user sees may be old, and when it would happen is unknown. Throws while
 * the server does not answer.
 */
const refuseOffline = (): void => {
  const reach = reachability.state.get();
  if (reach.up) return;
  reachability.suspect();
  throw new ApiError(
    0,
    'offline',
    `The server has not answered since ${clockTime(reach.since)}. Nothing was sent: try again once the connection is back.`,
  );
};

const unreachable = (changes: boolean): ApiError =>
  changes
    ? new ApiError(
        0,
        'no_answer',
        'The server did not answer. It may have got the request or not: look whether it was done before you try again.',
      )
    : new ApiError(
        0,
        'unreachable',
        'The server cannot be reached. Check your connection, or whether management is running.',
      );

const send = async (
  method: string,
  target: string,
  token: string,
  key: string | null,
  options: RequestOptions,
): Promise<Response> => {
  try {
    const response = await fetch(target, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === null ? {} : { 'idempotency-key': key }),
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    reachability.heard();
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    reachability.suspect();
    throw unreachable(method !== 'GET');
  }
};

const call = async <T>(method: string, path: string, options: RequestOptions = {}): Promise<T> => {
  // The same key for the repeat after a refresh: the server then answers instead of doing it twice.
  const key = method === 'POST' ? crypto.randomUUID() : null;
  const target = url(path, options.query);
  if (method !== 'GET') refuseOffline();
  const token = await freshToken();
  let response = await send(method, target, token, key, options);
  if (response.status === 401) {
    const current = session.get();
    if (current !== null && current.accessToken === token) await refresh(current);
    response = await send(method, target, await freshToken(), key, options);
  }
  if (response.status === 204) return undefined as T;
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw problemOf(response.status, body, response.headers.get('x-request-id'));
  return body as T;
};

/** Requests below `/api/v1` as the signed-in user. They throw `ApiError`. */
export const api = {
  get: <T>(path: string, query?: Query, signal?: AbortSignal) =>
    call<T>('GET', path, { ...(query === undefined ? {} : { query }), ...(signal === undefined ? {} : { signal }) }),
  post: <T>(path: string, body?: unknown, query?: Query, signal?: AbortSignal) =>
    call<T>('POST', path, {
      body: body ?? {},
      ...(query === undefined ? {} : { query }),
      ...(signal === undefined ? {} : { signal }),
    }),
  patch: <T>(path: string, body: unknown) => call<T>('PATCH', path, { body }),
  put: <T>(path: string, body: unknown) => call<T>('PUT', path, { body }),
  delete: <T>(path: string) => call<T>('DELETE', path),
};

export interface Upload<T> {
  done: Promise<T>;
  abort: () => void;
}

/**
 * Sends a file as the raw body of a PUT. `onProgress` gets bytes sent. Fetch cannot report the progress of a request,
 * so this is XMLHttpRequest.
 */
export const upload = <T>(path: string, file: Blob, onProgress: (sentBytes: number) => void): Upload<T> => {
  const request = new XMLHttpRequest();
  let aborted = false;
  const started = async (): Promise<string> => {
    refuseOffline();
    return freshToken();
  };
  const done = started().then(
    (token) =>
      new Promise<T>((resolve, reject) => {
        if (aborted) return reject(new ApiError(0, 'aborted', 'The upload was stopped.'));
        request.open('PUT', url(path));
        request.setRequestHeader('authorization', `Bearer ${token}`);
        request.setRequestHeader('content-type', 'application/octet-stream');
        request.upload.onprogress = (event) => onProgress(event.loaded);
        request.onabort = () => reject(new ApiError(0, 'aborted', 'The upload was stopped.'));
        request.onerror = () => {
          reachability.suspect();
          reject(new ApiError(0, 'unreachable', 'The connection broke during the upload.'));
        };
        request.onload = () => {
          reachability.heard();
          let body: unknown = null;
          try {
            body = request.responseText === '' ? null : JSON.parse(request.responseText);
          } catch {
            body = null;
          }
          if (request.status >= 200 && request.status < 300) resolve(body as T);
          else reject(problemOf(request.status, body, request.getResponseHeader('x-request-id')));
        };
        request.send(file);
      }),
  );
  return {
    done,
    abort: () => {
      aborted = true;
      request.abort();
    },
  };
};
