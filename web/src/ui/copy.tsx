import { Check, Copy as CopyIcon } from 'lucide-react';
import { useState } from 'react';
import { cx } from './cx';

/** Copies `text`; says so to screen readers too. */
export function CopyButton({ text, label = 'Copy', className }: { text: string; label?: string; className?: string }) {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    window.setTimeout(() => setDone(false), 1500);
  };
  const Icon = done ? Check : CopyIcon;
  return (
    <button
      type="button"
      onClick={() => void copy().catch(() => undefined)}
      aria-label={done ? 'Copied' : label}
      title={done ? 'Copied' : label}
      className={cx(
        'inline-grid size-6 shrink-0 place-items-center rounded text-dim hover:bg-sunken hover:text-ink',
        className,
      )}
    >
      <Icon aria-hidden className="size-3.5" />
      <span aria-live="polite" className="sr-only">
        {done ? 'Copied' : ''}
      </span>
    </button>
  );
}

/** A value in the fixed-width font with a copy button. */
export function Copyable({ text, label }: { text: string; label?: string }) {
  return (
    <span className="inline-flex max-w-full items-center gap-1">
      <code title={text} className="truncate font-mono text-xs">
        {text}
      </code>
      <CopyButton text={text} {...(label === undefined ? {} : { label })} />
    </span>
  );
}
