import { useQuery } from '@tanstack/react-query';
import type { BodyOf } from '../../../../../src/rest/rest-call';
import { api } from '../../../lib/api';
import { asApiError, type ApiError } from '../../../lib/problem';
import { useDebounced } from '../../../lib/queries';
import type { CreateInstance } from '../../../lib/types';

/** After the last keystroke. Milliseconds. */
const settleMs = 500;
/** Others take room meanwhile. Milliseconds. */
const recheckMs = 30_000;

type CheckedCreate = BodyOf<'post', '/instances/check'>;

/** What the server says of a create before it is asked for. `idle`: something is missing still. */
export interface CreateCheck {
  idle: boolean;
  error: ApiError | null;
  /** One per instance; empty while it is not known. */
  hostnames: string[];
}

/**
 * Asks while a form is filled in whether the server would accept it now.
 * @param body null while something is missing
 */
export const useCreateCheck = (
  body: CreateInstance | null,
  count: number,
  query: { project?: string },
): CreateCheck => {
  const asked = useDebounced(body === null ? null : JSON.stringify({ ...body, count }), settleMs);
  const result = useQuery({
    queryKey: ['instances', 'check', asked, query],
    queryFn: () => api.post('/instances/check', { body: JSON.parse(asked ?? '{}') as CheckedCreate, query }),
    enabled: asked !== null && body !== null,
    retry: false,
    refetchInterval: recheckMs,
  });
  if (body === null || asked === null) return { idle: true, error: null, hostnames: [] };
  return {
    idle: false,
    error: result.error === null ? null : asApiError(result.error),
    hostnames: result.data?.hostnames ?? [],
  };
};
