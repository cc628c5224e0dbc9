import { CircleAlert } from 'lucide-react';
import type { ApiError } from '../../lib/problem';
import type { FieldError } from '../../lib/types';
import { cx } from '../cx';

/**
 * A refusal in full: the sentence, the fields it names (or only some of them), each host's reason, and the request id
 * for the operator.
 */
export function ProblemNote({
  error,
  className,
  fields: shown = error.errors,
}: {
  error: ApiError;
  className?: string;
  fields?: readonly FieldError[];
}) {
  const fields = shown.filter((e) => e.message !== error.detail);
  return (
    <div role="alert" className={cx('rounded-lg border border-bad/25 bg-bad-soft px-3 py-2.5 text-sm', className)}>
      <p className="flex gap-2 text-bad">
        <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
        <span className="min-w-0">{error.detail}</span>
      </p>
      {fields.length > 0 && (
        <ul className="mt-2 space-y-1 pl-6 text-xs">
          {fields.map((e) => (
            <li key={`${e.path} ${e.code}`}>
              <code className="font-mono">{e.path.replace(/^(body|query|params)\./, '')}</code>: {e.message}
            </li>
          ))}
        </ul>
      )}
      {error.hosts.length > 0 && (
        <ul aria-label="Why each host was refused" className="mt-2 space-y-1.5 pl-6 text-xs">
          {error.hosts.map((h) => (
            <li key={h.hostId}>
              <span title={h.host} className="block truncate font-medium">
                {h.host}
              </span>
              {h.reason}
            </li>
          ))}
        </ul>
      )}
      {error.requestId !== null && error.status >= 400 && (
        <p className="mt-1.5 pl-6 text-xs text-dim">
          <code className="font-mono">{error.code}</code> · request{' '}
          <code className="font-mono break-all select-all">{error.requestId}</code>
        </p>
      )}
    </div>
  );
}
