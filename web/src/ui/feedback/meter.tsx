import { percent } from '../../lib/format';
import { cx } from '../cx';

/** A bar of used against total. Values over 85 % are marked by colour and by the figure beside it. */
export function Meter({
  label,
  used,
  total,
  show,
  compact = false,
}: {
  label: string;
  used: number;
  total: number;
  show: (n: number) => string;
  compact?: boolean;
}) {
  const share = percent(used, total);
  const text = `${show(used)} of ${show(total)}`;
  return (
    <div>
      <div className={cx('flex items-baseline justify-between gap-3', compact ? 'text-xs' : 'text-sm')}>
        <span className={compact ? 'text-dim' : ''}>{label}</span>
        <span className="nums text-xs text-dim">
          {text}
          {!compact && ` · ${share} %`}
        </span>
      </div>
      <div
        role="meter"
        aria-label={label}
        aria-valuenow={share}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuetext={`${text}, ${share} percent`}
        className="mt-1.5 h-1.5 overflow-hidden rounded-full bg-idle-soft"
      >
        <div
          className={cx('h-full rounded-full', share > 95 ? 'bg-bad' : share > 85 ? 'bg-warn-bar' : 'bg-accent')}
          style={{ width: `${share}%` }}
        />
      </div>
    </div>
  );
}

/** Progress in percent; null is unknown. */
export function Progress({ value, label }: { value: number | null; label: string }) {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(value === null ? {} : { 'aria-valuenow': Math.round(value) })}
      className="h-1.5 overflow-hidden rounded-full bg-idle-soft"
    >
      <div
        className={cx(
          'h-full rounded-full bg-accent transition-[width] duration-300',
          value === null && 'w-1/3 animate-pulse',
        )}
        style={value === null ? {} : { width: `${value}%` }}
      />
    </div>
  );
}
