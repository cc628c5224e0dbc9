import { CircleCheck, CircleHelp, CircleX } from 'lucide-react';
import { words } from '../../lib/format';
import type { Condition } from '../../lib/types';
import { Age } from '../../ui/time';

const icons = { true: CircleCheck, false: CircleX, unknown: CircleHelp } as const;
const labels = { true: 'yes', false: 'no', unknown: 'unknown' } as const;

/** Conditions as told; whether "yes" is good depends on the condition, so its message tells, not a colour. */
export function ConditionList({ conditions }: { conditions: Condition[] }) {
  if (conditions.length === 0) return <p className="px-4 py-4 text-sm text-dim">No condition has been reported yet.</p>;
  return (
    <ul className="divide-y divide-line">
      {conditions.map((c) => {
        const Icon = icons[c.status];
        return (
          <li key={c.type} className="flex items-start gap-3 px-4 py-2.5 text-sm">
            <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-dim" />
            <div className="min-w-0 flex-1">
              <span className="font-medium">{words(c.type)}</span>: {labels[c.status]}
              <p className="text-xs break-words text-dim">{c.message === '' ? c.reason : c.message}</p>
            </div>
            <span className="text-xs text-dim">
              <Age at={c.since} />
            </span>
          </li>
        );
      })}
    </ul>
  );
}
