import type { ProblemHints } from '../../../core/errors/problem-hints';
import type { StepError } from '../../../core/workflow/definition/step-error';
import { errorText, type ErrorStep } from '../contract/task-error';
import type { TaskError } from '../contract/task.api';
import { stuckHint } from './stuck-hint';
import type { TaskRow, TaskStepRow } from './task.row';

/** What the presenters need beside the rows. */
export interface Viewer {
  hosts: ReadonlyMap<string, string>;
  /** Sees hosts and what an unexpected error said, and may act on hosts. */
  operator: boolean;
  /** What to do about a failure, by its code. */
  hints: ProblemHints;
  /** Title and, where it is known, whether the step has an undo, by position. */
  outline: readonly { name: string; title: string; undo?: boolean }[];
}

/** Operators also see what an unexpected error said; tenants do not. */
export const messageOf = (error: StepError, operator: boolean): string =>
  operator && error.cause !== undefined ? `${error.message} (${error.cause})` : error.message;

/** Null also for those who may not see hosts. */
export const hostName = (viewer: Viewer, id: string | null): string | null =>
  id === null || !viewer.operator ? null : (viewer.hosts.get(id) ?? id);
export const titleOf = (viewer: Viewer, name: string, seq?: number): string =>
  (seq === undefined ? viewer.outline.find((step) => step.name === name) : viewer.outline[seq])?.title ?? name;

const tell = (row: TaskStepRow, viewer: Viewer, reason: string | null): ErrorStep => ({
  name: row.name,
  title: titleOf(viewer, row.name, row.seq),
  host: hostName(viewer, row.hostId),
  reason,
});

/** What is left of the started steps: undo that failed, was passed over by an operator, or did not come to them. */
const leftBehind = (task: TaskRow, rows: readonly TaskStepRow[], viewer: Viewer): ErrorStep[] => {
  const undos = new Map(rows.filter((row) => row.phase === 'undo').map((row) => [row.seq, row]));
  const left: ErrorStep[] = [];
  for (const run of rows.filter((row) => row.phase === 'run' && row.state !== 'skipped').reverse()) {
    const undo = undos.get(run.seq);
    if (undo?.state === 'succeeded') continue;
    if (undo) {
      // An undo without an error was skipped because no host can have been reached: there is nothing.
      if (undo.error)
        left.push(
          tell(
            undo,
            viewer,
            undo.state === 'skipped' ? 'passed over by an operator' : messageOf(undo.error, viewer.operator),
          ),
        );
      continue;
    }
    if (!task.undone && viewer.outline[run.seq]?.undo !== false) left.push(tell(run, viewer, null));
  }
  return left;
};

const hintOf = (task: TaskRow, error: StepError, left: readonly ErrorStep[], viewer: Viewer): string | null => {
  if (task.state === 'stuck') return stuckHint(viewer.operator, task.id);
  // The engine says how a task came to its end that was not undone.
  if (task.state === 'failed' && !task.undone) return error.hint;
  if (task.state === 'cancelled' || task.state === 'compensating') return null;
  return left.length > 0
    ? 'What is left may have to be removed by hand.'
    : viewer.hints.for(error.code, viewer.operator);
};

/** Why a task failed, from its error and its steps. */
export const presentError = (task: TaskRow, rows: readonly TaskStepRow[], viewer: Viewer): TaskError | null => {
  const { error } = task;
  if (error === null) return null;
  const failed = error.step === null ? undefined : rows.find((row) => row.phase === 'run' && row.name === error.step);
  const ended = task.state === 'succeeded';
  const left = ended ? [] : leftBehind(task, rows, viewer);
  const facts = {
    state: task.state,
    reason: messageOf(error, viewer.operator),
    stepTitle: error.step === null ? null : titleOf(viewer, error.step, failed?.seq),
    // The error of a stuck task names the host of the undo; the step's own row has where it failed.
    host: hostName(viewer, failed ? failed.hostId : error.host),
    attempts: failed?.attempt ?? 0,
    undone: task.undone && left.length === 0,
    undoneSteps: rows
      .filter((row) => row.phase === 'undo' && row.state === 'succeeded')
      .reverse()
      .map((row) => tell(row, viewer, null)),
    leftSteps: left,
    hint: hintOf(task, error, left, viewer),
  };
  return {
    code: error.code,
    message: errorText(facts),
    ...withoutState(facts),
    step: error.step,
    requestId: task.requestId,
  };
};

const withoutState = <T extends { state: string }>({ state: _state, ...rest }: T): Omit<T, 'state'> => rest;
