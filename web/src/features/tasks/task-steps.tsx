import { Ban, Check, Circle, Clock, LoaderCircle, X, type LucideIcon } from 'lucide-react';
import { duration, words } from '../../lib/format';
import { useNow } from '../../lib/queries';
import type { TaskStep } from '../../lib/types';
import { cx } from '../../ui/cx';
import { Progress } from '../../ui/feedback/meter';

interface Look {
  icon: LucideIcon;
  className: string;
  label: string;
}
const looks: Record<TaskStep['state'], Look> = {
  pending: { icon: Circle, className: 'text-faint', label: 'Waiting' },
  running: { icon: LoaderCircle, className: 'animate-spin text-busy', label: 'Running' },
  succeeded: { icon: Check, className: 'text-ok', label: 'Done' },
  failed: { icon: X, className: 'text-bad', label: 'Failed' },
  skipped: { icon: Ban, className: 'text-dim', label: 'Skipped' },
};
const pausing: Look = { icon: Clock, className: 'text-warn', label: 'Waiting for another try' };

function Step({ step, now, live }: { step: TaskStep; now: number; live: boolean }) {
  const waits = live && step.state === 'running' && step.nextTryAt !== null;
  const look = waits ? pausing : looks[step.state];
  const elapsed =
    step.startedAt === null
      ? null
      : (step.endedAt === null ? now : Date.parse(step.endedAt)) - Date.parse(step.startedAt);
  const title = step.title === '' ? words(step.name) : step.title;
  const facts = [
    step.host === null ? null : `on ${step.host.name}`,
    step.attempt > 1 ? `attempt ${step.attempt}` : null,
    waits && step.nextTryAt !== null
      ? `next try in ${Math.max(0, Math.ceil((Date.parse(step.nextTryAt) - now) / 1000))} s`
      : null,
  ].filter((fact) => fact !== null);
  return (
    <li className="relative grid grid-cols-[1.25rem_minmax(0,1fr)_auto] gap-x-2.5 pb-3 text-sm not-last:before:absolute not-last:before:top-5 not-last:before:bottom-0 not-last:before:left-[0.59rem] not-last:before:w-px not-last:before:bg-line">
      <span
        className={cx(
          'grid size-5 place-items-center rounded-full',
          step.state === 'succeeded' && 'bg-ok-soft',
          step.state === 'failed' && 'bg-bad-soft',
          waits && 'bg-warn-soft',
        )}
      >
        <look.icon aria-hidden className={cx('size-3.5', look.className)} />
      </span>
      <div className="min-w-0">
        <span className={cx(step.state === 'pending' && 'text-dim', step.state === 'running' && 'font-medium')}>
          {title}
          <span className="sr-only">: {step.state === 'pending' && !live ? 'Not reached' : look.label}</span>
        </span>
        {facts.length > 0 && (
          <span className="nums block truncate text-xs text-dim" title={facts.join(' · ')}>
            {facts.join(' · ')}
          </span>
        )}
        {step.error !== null && (
          <span
            className={cx(
              'mt-0.5 block text-xs break-words',
              waits ? 'text-warn' : step.state === 'succeeded' ? 'text-dim' : 'text-bad',
            )}
          >
            {step.error.message}
          </span>
        )}
        {step.state === 'running' && step.progress !== null && (
          <div className="mt-1.5">
            <Progress value={step.progress} label={title} />
          </div>
        )}
        {step.state === 'running' && (step.message ?? '') !== '' && (
          <span className="mt-1 block truncate text-xs text-dim">{step.message}</span>
        )}
      </div>
      <span className="nums text-xs leading-5 text-dim">{elapsed === null ? '' : duration(elapsed)}</span>
    </li>
  );
}

/** What a task does, in order; what it undoes apart. */
export function TaskSteps({ steps, live, stuck = false }: { steps: TaskStep[]; live: boolean; stuck?: boolean }) {
  const now = useNow(live ? 500 : 60_000);
  const run = steps.filter((s) => s.phase === 'run');
  const undo = steps.filter((s) => s.phase === 'undo');
  return (
    <>
      <h3 className="mb-2 text-xs font-medium text-dim">Steps</h3>
      <ol>
        {run.map((step) => (
          <Step key={step.name} step={step} now={now} live={live} />
        ))}
      </ol>
      {run.length === 0 && <p className="py-2 text-sm text-dim">No step has started yet.</p>}
      {undo.length > 0 && (
        <>
          <h3 className="mt-3 mb-2 text-xs font-medium text-dim">
            {stuck ? 'Undone so far, in this order' : live ? 'Being undone, in this order' : 'Undone, in this order'}
          </h3>
          <ol>
            {undo.map((step) => (
              <Step key={step.name} step={step} now={now} live={live} />
            ))}
          </ol>
        </>
      )}
    </>
  );
}
