import { CircleCheck } from 'lucide-react';
import { elsewhere } from '../../../ui/forms/form-problem';
import { ProblemNote } from '../../../ui/feedback/problem-note';
import type { CreateCheck as Check } from './use-create-check';

/**
 * Says while a form is filled in whether the server would accept it now, and with which hostname.
 * @param fields of the form that show their own error
 */
export function CreateCheck({
  check: { idle, error, hostnames },
  fields,
}: {
  check: Check;
  fields: readonly string[];
}) {
  if (idle) return null;
  const others = error === null ? null : elsewhere(error, fields);
  return (
    <div role="status" className="border-t border-line px-4 py-3 text-xs">
      {error !== null ? (
        others === null ? (
          <p className="text-dim">It would be refused: see the marked field.</p>
        ) : (
          <ProblemNote error={error} fields={others} />
        )
      ) : hostnames.length > 0 ? (
        <p className="flex gap-2 text-dim">
          <CircleCheck aria-hidden className="mt-px size-3.5 shrink-0 text-ok" />
          <span className="min-w-0 break-words">
            There is room now. {hostnames.length === 1 ? 'Its hostname will be ' : 'Hostnames will be '}
            <code className="font-mono">
              {hostnames.length > 3 ? `${hostnames[0] ?? ''} to ${hostnames.at(-1) ?? ''}` : hostnames.join(', ')}
            </code>
            .
          </span>
        </p>
      ) : (
        <p className="text-dim">Asking whether there is room…</p>
      )}
    </div>
  );
}
