import { CircleAlert, CircleCheck, CircleHelp, CircleX, type LucideIcon } from 'lucide-react';
import { words } from '../../lib/format';
import type { Condition } from '../../lib/types';
import { cx } from '../../ui/cx';
import { Age } from '../../ui/time';

interface Look {
  icon: LucideIcon;
  className: string;
  label: string;
}

const ok: Look = { icon: CircleCheck, className: 'text-ok', label: 'yes' };
const bad: Look = { icon: CircleX, className: 'text-bad', label: 'no' };
const unknown: Look = { icon: CircleHelp, className: 'text-warn', label: 'unknown' };

/** Conditions say what is well, but for maintenance, which somebody wanted. */
const lookOf = ({ type, status }: Condition): Look => {
  if (status === 'unknown') return unknown;
  if (type === 'Maintenance')
    return status === 'true'
      ? { icon: CircleAlert, className: 'text-warn', label: 'yes' }
      : { ...ok, className: 'text-dim', label: 'no' };
  return status === 'true' ? ok : bad;
};

/** What is not well comes first. */
const rank = (look: Look): number => (look === bad ? 0 : look === unknown ? 1 : 2);

/** What is known of a host, each with its reason. */
export function ConditionList({ conditions }: { conditions: Condition[] }) {
  if (conditions.length === 0) return <p className="px-4 py-4 text-sm text-dim">No condition has been reported yet.</p>;
  const shown = conditions
    .map((condition) => ({ condition, look: lookOf(condition) }))
    .sort((a, b) => rank(a.look) - rank(b.look));
  return (
    <ul className="divide-y divide-line">
      {shown.map(({ condition: c, look: { icon: Icon, className, label } }) => {
        return (
          <li key={c.type} className="flex items-start gap-3 px-4 py-2.5 text-sm">
            <Icon aria-hidden className={cx('mt-0.5 size-4 shrink-0', className)} />
            <div className="min-w-0 flex-1">
              <span className="font-medium">{words(c.type)}</span>: {label}
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
