import type { AnswerOf, CallOf, Init, Method, PathOf, PathWith } from '../../../src/rest/rest-call';
import { filledPath, restTarget, type Query } from '../../../src/rest/rest-target';
import { clockTime } from './format';
import { ApiError, problemOf } from './problem';
import { reachability } from './reachability';
import { read, send, unreachable } from './request';
import { freshToken, refresh, session } from './session';

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

const noAnswer = (): ApiError =>
  new ApiError(
    0,
    'no_answer',
    'The server did not answer. It may have got the request or not: look whether it was done before you try again.',
  );

interface Cancellable {
  signal?: AbortSignal;
}

const call = async <M extends Method, P extends PathWith<M>>(
  method: M,
  path: P,
  init: (Partial<CallOf<M, P>> & Cancellable) | undefined,
): Promise<AnswerOf<M, P>> => {
  const target = restTarget(path, init?.path as Record<string, string> | undefined, init?.query as Query | undefined);
  const sending = {
    // The same key for the repeat after a refresh: the server then answers instead of doing it twice.
    idempotencyKey: method === 'post' ? crypto.randomUUID() : undefined,
    body: method === 'post' ? (init?.body ?? {}) : init?.body,
    signal: init?.signal,
  };
  const lost = method === 'get' ? unreachable : noAnswer;
  if (method !== 'get') refuseOffline();
  const verb = method.toUpperCase();
  const token = await freshToken();
  let response = await send(verb, target, { ...sending, token }, lost);
  if (response.status === 401) {
    const current = session.get();
    if (current !== null && current.accessToken === token) await refresh(current);
    response = await send(verb, target, { ...sending, token: await freshToken() }, lost);
  }
  return (await read(response)) as AnswerOf<M, P>;
};

/**
 * Requests below `/api/v1` as the signed-in user, by the paths of the OpenAPI document: parameters, body and answer are
 * those of the operation. They throw `ApiError`.
 */
export const api = {
  get: <P extends PathWith<'get'>>(path: P, ...[init]: Init<'get', P, Cancellable>) => call('get', path, init),
  post: <P extends PathWith<'post'>>(path: P, ...[init]: Init<'post', P, Cancellable>) => call('post', path, init),
  patch: <P extends PathWith<'patch'>>(path: P, ...[init]: Init<'patch', P, Cancellable>) => call('patch', path, init),
  put: <P extends PathWith<'put'>>(path: P, ...[init]: Init<'put', P, Cancellable>) => call('put', path, init),
  delete: <P extends PathWith<'delete'>>(path: P, ...[init]: Init<'delete', P, Cancellable>) =>
    call('delete', path, init),
};

export interface Upload<T> {
  done: Promise<T>;
  abort: () => void;
}

/**
 * Sends a file as the raw body of a PUT. `onProgress` gets bytes sent. Fetch cannot report the progress of a request,
 * so this is XMLHttpRequest.
 */
export const upload = <P extends PathWith<'put'>>(
  path: P,
  parameters: PathOf<'put', P>,
  file: Blob,
  onProgress: (sentBytes: number) => void,
): Upload<AnswerOf<'put', P>> => {
  const request = new XMLHttpRequest();
  let aborted = false;
  const started = async (): Promise<string> => {
    refuseOffline();
    return freshToken();
  };
  const done = started().then(
    (token) =>
      new Promise<AnswerOf<'put', P>>((resolve, reject) => {
        if (aborted) return reject(new ApiError(0, 'aborted', 'The upload was stopped.'));
        request.open('PUT', `/api/v1${filledPath(path, parameters as Record<string, string>)}`);
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
          if (request.status >= 200 && request.status < 300) resolve(body as AnswerOf<'put', P>);
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
