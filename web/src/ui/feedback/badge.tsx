import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../cx';

export type Tone = 'ok' | 'busy' | 'warn' | 'bad' | 'idle';

const tones: Record<Tone, string> = {
  ok: 'bg-ok-soft text-ok',
  busy: 'bg-busy-soft text-busy',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  idle: 'bg-idle-soft text-dim',
};

/** A state as icon and word, so that it never rests on colour alone. */
export function Badge({
  tone,
  icon: Icon,
  spin = false,
  title,
  children,
}: {
  tone: Tone;
  icon?: LucideIcon;
  spin?: boolean;
  title?: string;
  children: ReactNode;
}) {
  return (
    <span
      title={title}
      className={cx(
        'inline-flex h-5.5 items-center gap-1 rounded-full px-2 text-xs font-medium whitespace-nowrap',
        tones[tone],
      )}
    >
      {Icon !== undefined && <Icon aria-hidden className={cx('size-3', spin && 'animate-spin')} />}
      {children}
    </span>
  );
}
