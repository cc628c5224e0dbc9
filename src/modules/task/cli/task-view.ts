import { formatDuration, formatTime, plain } from '../../../core/cli/output/format';
import { waitText } from '../../../core/cli/output/task-follower';
import type { TaskDetail, TaskStep } from '../contract/task.api';

const marks: Record<TaskStep['state'], string> = {
  pending: '·',
  running: '…',
  succeeded: '✓',
  failed: '✗',
  skipped: '-',
};

export const took = (task: { durationMs: number | null }): string =>
  task.durationMs === null ? '-' : formatDuration(task.durationMs / 1000);

const stepLines = (step: TaskStep): string[] => {
  const notes = [
    step.host ? `on ${step.host.name}` : '',
    step.attempt > 1 ? `${step.attempt} attempts` : '',
    step.state === 'running' && step.progress !== null ? `${Math.round(step.progress)} %` : '',
    step.state === 'running' ? (step.message ?? '') : '',
  ].filter((note) => note !== '');
  const time = step.durationMs === null ? '' : formatDuration(step.durationMs / 1000);
  const line = `  ${marks[step.state]} ${plain(step.title).padEnd(36)} ${time.padStart(8)}${notes.length > 0 ? `  ${plain(notes.join(', '))}` : ''}`;
  return step.error === null ? [line] : [line, `      ${plain(step.error.message)} (${plain(step.error.code)})`];
};

/** Breaks a text into lines of at most `width` characters, between words. */
const wrap = (text: string, width: number): string[] => {
  const lines: string[] = [];
  for (const word of plain(text).split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
};

/** A task as people read it: facts, why it failed, steps, what was undone, who interfered. */
export const taskView = (task: TaskDetail): string => {
  const facts: [string, string][] = [
    ['Task', task.id],
    ['Type', task.type],
    ['Subject', `${task.subject.kind} ${task.subject.name} (${task.subject.id})`],
    ['State', `${task.state}${task.endedAt === null ? `, ${Math.round(task.progress)} %` : ''}`],
    ['Started', task.startedAt === null ? 'not yet' : `${task.startedAt} (${formatTime(task.startedAt)})`],
    ['Took', took(task)],
    ['By', task.createdBy],
  ];
  if (task.requestId !== null) facts.push(['Request', task.requestId]);
  if (task.waiting !== null) facts.push(['Waits', waitText(task.waiting)]);
  if (task.cancel !== null && task.endedAt === null)
    facts.push([
      'Cancelled',
      `${formatTime(task.cancel.requestedAt)}${task.cancel.reason === null ? '' : `: ${task.cancel.reason}`}`,
    ]);
  if (task.parent !== null) facts.push(['Part of', `${task.parent.id} (${task.parent.type}, ${task.parent.state})`]);
  const lines = facts.map(([label, value]) => `${label.padEnd(10)} ${plain(value)}`);
  if (task.error !== null) lines.push('', ...wrap(task.error.message, 100), `(${plain(task.error.code)})`);
  const run = task.steps.filter((step) => step.phase === 'run');
  const undo = task.steps.filter((step) => step.phase === 'undo');
  lines.push('', 'Steps', ...run.flatMap(stepLines));
  if (undo.length > 0) lines.push('', 'Undone, in this order', ...undo.flatMap(stepLines));
  if (task.childTasks.length > 0) {
    lines.push('', `Child tasks (${task.children})`);
    for (const child of task.childTasks)
      lines.push(
        `  ${child.id}  ${plain(child.type)}  ${plain(child.subject.name)}  ${child.state}  ${Math.round(child.progress)} %`,
      );
  }
  if (task.audit.length > 0) {
    lines.push('', 'Interventions');
    for (const entry of task.audit) {
      const by = entry.by === null ? 'an administrator' : plain(entry.by.name);
      lines.push(
        `  ${entry.at}  ${entry.verb}${entry.step === null ? '' : ` at ${plain(entry.step)}`} by ${by}${entry.reason === null ? '' : `: ${plain(entry.reason)}`}`,
      );
    }
  }
  return `${lines.join('\n')}\n`;
};
