import type { StepOutline } from '../../../core/workflow/workflow-engine';
import type { StepError } from '../../../core/workflow/step-failure';
import type { Task, TaskStep } from '../contract/task.api';
import type { TaskRow, TaskStepRow } from './task.repository';

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

/** Operators also see what an unexpected error said; tenants do not. */
const messageOf = (error: StepError, operator: boolean): string => (operator && error.cause !== undefined ? `${error.message} (${error.cause})` : error.message);

export const presentTask = (row: TaskRow, hosts: Map<string, string>, operator: boolean): Task => ({
  id: row.id,
  type: row.type,
  state: row.state,
  projectId: row.projectId,
  subject: { kind: row.subjectKind, id: row.subjectId, name: row.subjectName },
  progress: row.progress,
  step: row.step,
  error: row.error && {
    code: row.error.code,
    message: messageOf(row.error, operator),
    step: row.error.step,
    host: row.error.host && (hosts.get(row.error.host) ?? row.error.host),
    undone: row.undone,
    hint: row.error.hint,
  },
  createdBy: row.createdBy,
  requestId: row.requestId,
  createdAt: row.createdAt.toISOString(),
  startedAt: iso(row.startedAt),
  endedAt: iso(row.endedAt),
});

const pending = (step: StepOutline): TaskStep => ({
  name: step.name,
  title: step.title,
  phase: 'run',
  state: 'pending',
  attempt: 0,
  host: null,
  progress: null,
  startedAt: null,
  endedAt: null,
  error: null,
});

/** All steps of the definition in order, then what was undone, in the order of undoing. */
export const presentSteps = (outline: StepOutline[], rows: TaskStepRow[], hosts: Map<string, string>, operator: boolean): TaskStep[] => {
  const present = (row: TaskStepRow): TaskStep => ({
    name: row.name,
    title: outline[row.seq]?.title ?? row.name,
    phase: row.phase,
    state: row.state,
    attempt: row.attempt,
    host: row.hostId === null ? null : { id: row.hostId, name: hosts.get(row.hostId) ?? row.hostId },
    progress: row.progress,
    startedAt: iso(row.startedAt),
    endedAt: iso(row.endedAt),
    error: row.error && { code: row.error.code, message: messageOf(row.error, operator) },
  });
  const runs = rows.filter((row) => row.phase === 'run');
  const forward = outline.length > 0 ? outline.map((step, seq) => runs.find((row) => row.seq === seq) ?? step) : runs;
  const undos = rows.filter((row) => row.phase === 'undo').reverse();
  return [...forward.map((step) => ('seq' in step ? present(step) : pending(step))), ...undos.map(present)];
};
