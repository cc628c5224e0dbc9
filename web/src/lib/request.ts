import { ApiError, problemOf } from './problem';
import { reachability } from './reachability';

export interface Sending {
  token?: string | undefined;
  /** A repeat with the same key is answered and not done again. */
  idempotencyKey?: string | undefined;
  /** Sent as JSON. */
  body?: unknown;
  signal?: AbortSignal | undefined;
}

export const unreachable = (): ApiError =>
  new ApiError(
    0,
    'unreachable',
    'The server cannot be reached. Check your connection, or whether management is running.',
  );

/**
 * One request below `/api/v1`, whatever its answer. Throws `lost()` when there was none.
 * @param target path and query
 */
export const send = async (
  method: string,
  target: string,
  { token, idempotencyKey, body, signal }: Sending,
  lost: () => ApiError = unreachable,
): Promise<Response> => {
  try {
    const response = await fetch(`/api/v1${target}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    reachability.heard();
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    reachability.suspect();
    throw lost();
  }
};

/** The JSON of an answer; undefined where it has no body. Throws the `ApiError` of a refusal. */
export const read = async (response: Response): Promise<unknown> => {
  if (response.status === 204) return undefined;
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw problemOf(response.status, body, response.headers.get('x-request-id'));
  return body;
};
