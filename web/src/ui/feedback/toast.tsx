import { CircleCheck, CircleX, Info, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { asApiError } from '../../lib/problem';
import { Store, useStore } from '../../lib/store';

interface Toast {
  id: number;
  kind: 'ok' | 'bad' | 'info';
  title: string;
  detail?: string;
  action?: { label: string; run: () => void };
}

const shown = new Store<readonly Toast[]>([]);
let nextId = 1;
/** How long a message stays unless the pointer or focus is on it. Milliseconds. */
const stayMs = { ok: 5000, info: 6000, bad: 12_000 } as const;
const most = 4;

const push = (toast: Omit<Toast, 'id'>): void => {
  shown.set([...shown.get(), { ...toast, id: nextId++ }].slice(-most));
};
const drop = (id: number): void => shown.set(shown.get().filter((t) => t.id !== id));

export const toast = {
  ok: (title: string, action?: Toast['action']) =>
    push({ kind: 'ok', title, ...(action === undefined ? {} : { action }) }),
  info: (title: string, detail?: string) => push({ kind: 'info', title, ...(detail === undefined ? {} : { detail }) }),
  /** `title` says what did not work; the error says why. */
  bad: (title: string, error?: unknown, action?: Toast['action']) =>
    push({
      kind: 'bad',
      title,
      ...(error === undefined ? {} : { detail: asApiError(error).detail }),
      ...(action === undefined ? {} : { action }),
    }),
};

const icons = { ok: CircleCheck, bad: CircleX, info: Info };
const colours = { ok: 'text-ok', bad: 'text-bad', info: 'text-busy' };

/** The corner where results are told, and read out. */
export function Toasts() {
  const toasts = useStore(shown);
  return (
    <section
      aria-label="Messages"
      aria-live="polite"
      aria-relevant="additions"
      className="pointer-events-none fixed inset-x-3 bottom-3 z-70 flex flex-col items-end gap-2 sm:inset-x-auto sm:right-4 sm:bottom-4 sm:w-96"
    >
      {toasts.map((t) => (
        <One key={t.id} toast={t} />
      ))}
    </section>
  );
}

function One({ toast: t }: { toast: Toast }) {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (held) return;
    const timer = window.setTimeout(() => drop(t.id), stayMs[t.kind]);
    return () => window.clearTimeout(timer);
  }, [held, t.id, t.kind]);
  const Icon = icons[t.kind];
  return (
    <div
      {...(t.kind === 'bad' ? { role: 'alert' } : {})}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
      className="pointer-events-auto flex w-full animate-appear items-start gap-2.5 rounded-lg bg-raised p-3 text-sm shadow-float"
    >
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${colours[t.kind]}`} />
      <div className="min-w-0 flex-1">
        <p className="font-medium break-words">{t.title}</p>
        {t.detail !== undefined && <p className="mt-0.5 break-words text-dim">{t.detail}</p>}
        {t.action !== undefined && (
          <button
            type="button"
            onClick={() => {
              t.action?.run();
              drop(t.id);
            }}
            className="mt-1 rounded font-medium text-accent-text hover:underline"
          >
            {t.action.label}
          </button>
        )}
      </div>
      <button
        type="button"
        aria-label="Dismiss"
        onClick={() => drop(t.id)}
        className="-m-1 rounded p-1 text-dim hover:bg-sunken hover:text-ink"
      >
        <X aria-hidden className="size-3.5" />
      </button>
    </div>
  );
}
