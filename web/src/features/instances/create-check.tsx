import { useQuery } from '@tanstack/react-query';
import { CircleCheck, CircleX } from 'lucide-react';
import { api, type Query } from '../../lib/api';
import { asApiError } from '../../lib/problem';
import { useDebounced } from '../../lib/queries';
import type { CreateInstance } from '../../lib/types';

/** After the last keystroke. Milliseconds. */
const settleMs = 500;
/** Others take room meanwhile. Milliseconds. */
const recheckMs = 30_000;

/**
 * Says while a form is filled in whether the server would accept it now, and with which hostname.
 * @param body null while something is missing
 */
export function CreateCheck({ body, count, query }: { body: CreateInstance | null; count: number; query: Query }) {
  const asked = useDebounced(body === null ? null : JSON.stringify({ ...body, count }), settleMs);
  const result = useQuery({
    queryKey: ['instances', 'check', asked, query],
    queryFn: () => api.post<{ hostnames: string[] }>('/instances/check', JSON.parse(asked ?? '{}'), query),
    enabled: asked !== null && body !== null,
    retry: false,
    refetchInterval: recheckMs,
  });
  if (body === null || asked === null) return null;
  const error = result.error === null ? null : asApiError(result.error);
  const names = result.data?.hostnames ?? [];
  return (
    <div role="status" className="border-t border-line px-4 py-3 text-xs">
      {error !== null ? (
        <p className="flex gap-2 text-bad">
          <CircleX aria-hidden className="mt-px size-3.5 shrink-0" />
          <span className="min-w-0 break-words">{error.message}</span>
        </p>
      ) : names.length > 0 ? (
        <p className="flex gap-2 text-dim">
          <CircleCheck aria-hidden className="mt-px size-3.5 shrink-0 text-ok" />
          <span className="min-w-0 break-words">
            There is room now. {names.length === 1 ? 'Its hostname will be ' : 'Hostnames will be '}
            <code className="font-mono">{names.length > 3 ? `${names[0] ?? ''} to ${names.at(-1) ?? ''}` : names.join(', ')}</code>.
          </span>
        </p>
      ) : (
        <p className="text-dim">Asking whether there is room…</p>
      )}
    </div>
  );
}
