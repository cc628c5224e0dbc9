import { lockWords } from '../../../core/workflow/definition/lock-keys';
import type { Task, TaskAudit, TaskDetail, TaskStep, RelatedTask } from '../contract/task.api';
import { hostName, messageOf, presentError, titleOf, type Viewer } from './task-error.presenter';
import type { TaskAuditRow, TaskDetailRow, TaskRow, TaskStepRow } from './task.row';

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;
const between = (start: Date | null, end: Date): number | null =>
  start === null ? null : Math.max(0, Math.round(end.getTime() - start.getTime()));

export const presentTask = (row: TaskRow, steps: readonly TaskStepRow[], viewer: Viewer, now: Date): Task => ({
  id: row.id,
  type: row.type,
  state: row.state,
  projectId: row.projectId,
  subject: { kind: row.subjectKind, id: row.subjectId, name: row.subjectName },
  progress: row.progress,
  step: row.step,
  stepTitle: row.step === null ? null : titleOf(viewer, row.step),
  error: presentError(row, steps, viewer),
  createdBy: row.createdBy,
  requestId: row.requestId,
  parentId: row.parentId,
  children: row.children,
  createdAt: row.createdAt.toISOString(),
  startedAt: iso(row.startedAt),
  endedAt: iso(row.endedAt),
  durationMs: between(row.startedAt, row.endedAt ?? now),
});

export const presentRelated = (row: TaskRow, viewer: Viewer): RelatedTask => ({
  id: row.id,
  type: row.type,
  state: row.state,
  progress: row.progress,
  subject: { kind: row.subjectKind, id: row.subjectId, name: row.subjectName },
  step: row.step,
  error: row.error && messageOf(row.error, viewer.operator),
});

/** @param goesForward why tasks of its type can't be cancelled once they have begun, if so */
export const presentIrrevocable = (row: TaskRow, goesForward: string | undefined): TaskDetail['irrevocable'] =>
  row.state === 'queued' || row.endedAt !== null ? null : (goesForward ?? null);

const pending = (step: { name: string; title: string }): TaskStep => ({
  name: step.name,
  title: step.title,
  phase: 'run',
  state: 'pending',
  attempt: 0,
  host: null,
  progress: null,
  message: null,
  startedAt: null,
  endedAt: null,
  durationMs: null,
  nextTryAt: null,
  error: null,
});

/** True for a step whose last attempt failed and which is repeated. */
const betweenTries = (row: TaskStepRow): boolean => row.state === 'running' && row.error !== null && !row.accepted;

/** All steps of the definition in order, then what was undone, in the order of undoing. */
export const presentSteps = (task: TaskDetailRow, rows: readonly TaskStepRow[], viewer: Viewer): TaskStep[] => {
  const present = (row: TaskStepRow): TaskStep => {
    const name = hostName(viewer, row.hostId);
    return {
      name: row.name,
      title: titleOf(viewer, row.name, row.seq),
      phase: row.phase,
      state: row.state,
      attempt: row.attempt,
      host: row.hostId === null || name === null ? null : { id: row.hostId, name },
      progress: row.progress,
      message: row.message,
      startedAt: row.startedAt.toISOString(),
      endedAt: iso(row.endedAt),
      durationMs: between(row.startedAt, row.endedAt ?? task.now),
      nextTryAt: task.asleep && betweenTries(row) ? iso(task.wakeAt) : null,
      error: row.error && { code: row.error.code, message: messageOf(row.error, viewer.operator) },
    };
  };
  const runs = new Map(rows.filter((row) => row.phase === 'run').map((row) => [row.seq, row]));
  const forward =
    viewer.outline.length > 0
      ? viewer.outline.map((step, seq) => {
          const row = runs.get(seq);
          return row ? present(row) : pending(step);
        })
      : [...runs.values()].map(present);
  const undos = rows.filter((row) => row.phase === 'undo').reverse();
  return [...forward, ...undos.map(present)];
};

/** What a waiting task is told to wait for, as far as others have it. */
export interface Obstacle {
  /** The task that has the lock. */
  holder: { id: string; type: string } | undefined;
  /** Slots taken under the limit. */
  slots: number;
}

const limitText = (scope: string, slots: number, viewer: Viewer): string => {
  const [kind, id = ''] = scope.split('/');
  if (kind === 'host' && !viewer.operator) return 'waiting for a slot on its host';
  if (kind === 'host')
    return `waiting for a slot: host ${hostName(viewer, id) ?? id} has ${slots} ${slots === 1 ? 'call' : 'calls'} under way`;
  const whose = scope.includes('/project/') ? 'of its project and type' : 'of its type';
  return `waiting for a slot: ${slots} other ${slots === 1 ? 'task' : 'tasks'} ${whose} ${slots === 1 ? 'is' : 'are'} at work`;
};

/** What a live task waits for, in words. */
export const presentWaiting = (
  task: TaskDetailRow,
  rows: readonly TaskStepRow[],
  viewer: Viewer,
  { holder, slots }: Obstacle,
): TaskDetail['waiting'] => {
  if (task.endedAt !== null || task.state === 'stuck') return null;
  if (task.lockState === 'waiting') {
    return {
      kind: 'lock',
      until: null,
      text: holder
        ? `waiting for task ${holder.id} (${holder.type}) to end its work on ${lockWords(task.awaitedLock ?? '', { kind: task.subjectKind, id: task.subjectId })}`
        : `waiting for another task on this ${task.subjectKind} to end`,
    };
  }
  if (!task.asleep) return null;
  if (task.waitingFor !== null) return { kind: 'limit', until: null, text: limitText(task.waitingFor, slots, viewer) };
  const row = rows.find((step) => step.state === 'running');
  if (task.childrenLeft > 0)
    return {
      kind: 'children',
      until: null,
      text: `waiting for ${task.childrenLeft} child ${task.childrenLeft === 1 ? 'task' : 'tasks'}`,
    };
  if (row && betweenTries(row) && row.error) {
    return {
      kind: 'retry',
      until: iso(task.wakeAt),
      text: `waiting for another try: ${messageOf(row.error, viewer.operator).replace(/\.$/, '')} (attempt ${row.attempt})`,
    };
  }
  const host = row ? hostName(viewer, row.hostId) : null;
  if (row?.accepted)
    return {
      kind: 'host',
      until: null,
      text: `${host ?? 'the host'} is at work${row.message === null || row.message === '' ? '' : `: ${row.message}`}`,
    };
  if (row)
    return { kind: 'condition', until: iso(task.wakeAt), text: `waiting at “${titleOf(viewer, row.name, row.seq)}”` };
  return { kind: 'worker', until: null, text: 'waiting for a free worker' };
};

/** Tenants see their own entries with the name, and those of operators without. */
export const presentAudit = (rows: readonly TaskAuditRow[], viewer: Viewer, viewerId: string): TaskAudit[] =>
  rows.map((row) => {
    const known = viewer.operator || row.byId === viewerId || row.verb === 'cancel';
    return {
      at: row.at.toISOString(),
      verb: row.verb,
      step: row.step,
      reason: row.reason,
      by: known ? { id: row.byId, name: row.byName } : null,
      requestId: row.requestId,
    };
  });
