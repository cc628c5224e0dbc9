import type { CliContext } from './cli-context';
import { CliFailure, exitCodes } from './cli-failure';
import { formatDuration, plain } from './format';

/** What the follower reads of `GET /tasks/{id}`. */
export interface FollowedTask {
  id: string;
  type: string;
  state: string;
  step: string | null;
  error: { code: string; message: string; step: string | null; host: string | null; undone: boolean; hint: string | null } | null;
  requestId: string | null;
  steps: FollowedStep[];
}

export interface FollowedStep {
  name: string;
  title: string;
  phase: 'run' | 'undo';
  state: string;
  attempt: number;
  host: { name: string } | null;
  progress: number | null;
  startedAt: string | null;
  endedAt: string | null;
  error: { code: string; message: string } | null;
}

const over = new Set(['succeeded', 'failed', 'cancelled', 'stuck']);
/** The server holds a request so long, so that steps show soon; between two requests at least the pause. */
const hold = '1s';
const pauseMs = 150;
const marks: Record<string, string> = { succeeded: '✓', failed: '✗', skipped: '-' };

/** Where lines go; `live` is a terminal, whose last line may be replaced. */
export interface FollowerOutput {
  live: boolean;
  write: (text: string) => void;
}

/**
 * Shows a task's steps as they happen until it is over. Returns when it succeeded; throws `CliFailure` (exit code 1) with its cause when it
 * failed, was cancelled or is stuck.
 */
export const followTask = async (context: CliContext, taskId: string, output: FollowerOutput): Promise<void> => {
  const shown = new Set<string>();
  for (;;) {
    const asked = performance.now();
    const task = await context.request<FollowedTask>('GET', `/tasks/${encodeURIComponent(taskId)}`, { query: { wait: hold } });
    show(task, shown, output);
    if (over.has(task.state)) {
      if (output.live) output.write('\r\u001b[K');
      return settle(task);
    }
    const rest = pauseMs - (performance.now() - asked);
    if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
  }
};

const show = (task: FollowedTask, shown: Set<string>, output: FollowerOutput): void => {
  const clear = output.live ? '\r\u001b[K' : '';
  for (const step of task.steps) {
    const key = `${step.phase}/${step.name}`;
    if (!marks[step.state] || shown.has(key) || step.startedAt === null) continue;
    shown.add(key);
    output.write(`${clear}${lineOf(step)}\n`);
  }
  const running = task.steps.find((step) => step.state === 'running');
  if (output.live) output.write(clear + (running ? lineOf(running) : `  … ${plain(task.type)} is ${plain(task.state)}`));
};

const lineOf = (step: FollowedStep): string => {
  const end = step.endedAt ? Date.parse(step.endedAt) : Date.now();
  const seconds = step.startedAt ? Math.max(0, (end - Date.parse(step.startedAt)) / 1000) : 0;
  const notes = [
    step.host ? `on ${plain(step.host.name)}` : '',
    step.attempt > 1 ? `attempt ${step.attempt}` : '',
    step.progress !== null && step.state === 'running' ? `${Math.round(step.progress)} %` : '',
    step.error && step.state !== 'succeeded' ? plain(step.error.message).slice(0, 200) : '',
  ].filter((note) => note !== '');
  const title = `${step.phase === 'undo' ? 'undo: ' : ''}${plain(step.title || step.name)}`;
  return `  ${marks[step.state] ?? '…'} ${title.padEnd(36)} ${formatDuration(seconds).padStart(7)}${notes.length > 0 ? `  ${notes.join(', ')}` : ''}`;
};

const settle = (task: FollowedTask): void => {
  if (task.state === 'succeeded') return;
  const { error } = task;
  const where = [error?.step ? `in step ${error.step}` : '', error?.host ? `on ${error.host}` : ''].filter((part) => part !== '').join(' ');
  const outcome = task.state === 'cancelled' ? 'was cancelled and undone' : task.state === 'stuck' ? 'is stuck and needs an operator' : error?.undone === false ? 'failed' : 'failed and was undone';
  throw new CliFailure(`The task ${outcome}${where ? ` (${where})` : ''}${error ? `: ${error.message}` : '.'}`, {
    exitCode: exitCodes.failed,
    code: error?.code ?? task.state,
    hint: error?.hint ?? `See: vcctl task show ${task.id}`,
    ...(task.requestId !== null && { requestId: task.requestId }),
  });
};
