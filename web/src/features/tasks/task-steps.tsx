import { Ban, Check, Circle, LoaderCircle, X, type LucideIcon } from 'lucide-react';
import { duration, words } from '../../lib/format';
import { useNow } from '../../lib/queries';
import type { TaskStep } from '../../lib/types';
import { cx } from '../../ui/cx';
import { Progress } from '../../ui/meter';

const looks: Record<TaskStep['state'], { icon: LucideIcon; className: string; label: string }> = {
  pending: { icon: Circle, className: 'text-faint', label: 'Waiting' },
  running: { icon: LoaderCircle, className: 'animate-spin text-busy', label: 'Running' },
  succeeded: { icon: Check, className: 'text-ok', label: 'Done' },
  failed: { icon: X, className: 'text-bad', label: 'Failed' },
  skipped: { icon: Ban, className: 'text-dim', label: 'Skipped' },
};

function Step({ step, now, live }: { step: TaskStep; now: number; live: boolean }) {
  const look = looks[step.state];
  const elapsed = step.startedAt === null ? null : (step.endedAt === null ? now : Date.parse(step.endedAt)) - Date.parse(step.startedAt);
  const title = step.title === '' ? words(step.name) : step.title;
  return (
    <li className="grid grid-cols-[1rem_minmax(0,1fr)_auto] gap-x-2.5 py-2 text-sm">
      <look.icon aria-hidden className={cx('mt-0.5 size-4', look.className)} />
      <div className="min-w-0">
        <span className={cx(step.state === 'pending' && 'text-dim')}>
          {title}
          <span className="sr-only">: {step.state === 'pending' && !live ? 'Not reached' : look.label}</span>
        </span>
        {(step.host !== null || step.attempt > 1) && (
          <span className="block truncate text-xs text-dim" title={step.host?.name}>
            {step.attempt > 1 && `attempt ${step.attempt}`}
            {step.attempt > 1 && step.host !== null && ' · '}
            {step.host !== null && `on ${step.host.name}`}
          </span>
        )}
        {step.error !== null && <span className="mt-0.5 block text-xs break-words text-bad">{step.error.message}</span>}
        {step.state === 'running' && step.progress !== null && (
          <div className="mt-1.5">
            <Progress value={step.progress} label={title} />
          </div>
        )}
      </div>
      <span className="nums text-xs leading-5 text-dim">{elapsed === null ? '' : duration(elapsed)}</span>
    </li>
  );
}

/** What a task does, in order; what it undoes apart. */
export function TaskSteps({ steps, live }: { steps: TaskStep[]; live: boolean }) {
  const now = useNow(live ? 500 : 60_000);
  const run = steps.filter((s) => s.phase === 'run');
  const undo = steps.filter((s) => s.phase === 'undo');
  return (
    <>
      <h3 className="text-xs font-medium text-dim">Steps</h3>
      <ol className="divide-y divide-line">
        {run.map((step) => (
          <Step key={step.name} step={step} now={now} live={live} />
        ))}
      </ol>
      {run.length === 0 && <p className="py-2 text-sm text-dim">No step has started yet.</p>}
      {undo.length > 0 && (
        <>
          <h3 className="mt-4 text-xs font-medium text-dim">Undone, in this order</h3>
          <ol className="divide-y divide-line">
            {undo.map((step) => (
              <Step key={step.name} step={step} now={now} live={live} />
            ))}
          </ol>
        </>
      )}
    </>
  );
}
