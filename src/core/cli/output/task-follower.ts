import type { CliContext } from '../cli-context';
import { CliFailure, exitCodes } from '../cli-failure';
import { formatDuration, plain } from './format';

/** What the follower reads of `GET /tasks/{id}`. */
export interface FollowedTask {
  id: string;
  type: string;
  state: string;
  step: string | null;
  /** `message` tells the whole story: what failed where and why, what was undone and what was not, what to do next. */
  error: { code: string; message: string } | null;
  requestId: string | null;
  /** Why nothing happens at the moment. */
  waiting?: { kind: string; until: string | null; text: string } | null;
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
  message?: string | null;
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
  /** Width of the terminal. */
  columns?: number | undefined;
  write: (text: string) => void;
}

/**
 * Shows a task's steps as they happen until it is over. Returns when it succeeded; throws `CliFailure` (exit code 1)
 * with its cause when it failed, was cancelled or is stuck.
 */
export const followTask = async (context: CliContext, taskId: string, output: FollowerOutput): Promise<void> => {
  const shown = new Set<string>();
  for (;;) {
    const asked = performance.now();
    const task = await context.request('get', '/tasks/{id}', { path: { id: taskId }, query: { wait: hold } });
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
  if (over.has(task.state)) return;
  const running = task.steps.find((step) => step.state === 'running');
  const waiting =
    task.waiting && task.waiting.kind !== 'host' && task.waiting.kind !== 'condition' ? task.waiting : null;
  if (output.live)
    output.write(
      clear +
        fit(
          waiting ? waitLine(waiting) : running ? lineOf(running) : `  … ${plain(task.type)} is ${plain(task.state)}`,
          output.columns,
        ),
    );
  else if (waiting)
    once(
      `wait/${waiting.kind}/${running?.phase ?? ''}/${running?.name ?? ''}/${running?.attempt ?? 0}`,
      `${waitLine(waiting)}\n`,
      shown,
      output,
    );
};

const once = (key: string, line: string, shown: Set<string>, output: FollowerOutput): void => {
  if (shown.has(key)) return;
  shown.add(key);
  output.write(line);
};

/** A line that would wrap cannot be replaced. */
const fit = (line: string, columns: number | undefined): string =>
  columns !== undefined && columns > 10 && [...line].length >= columns
    ? `${[...line].slice(0, columns - 2).join('')}…`
    : line;

/**
 * `waiting for another try: no answer (attempt 4)` with a time → `waiting for another try in 3 s: no answer (attempt
 * 4)`.
 */
export const waitText = (
  waiting: { kind: string; until: string | null; text: string },
  now: number = Date.now(),
): string => {
  const text = plain(waiting.text);
  if (waiting.kind !== 'retry' || waiting.until === null) return text;
  const seconds = Math.max(0, Math.ceil((Date.parse(waiting.until) - now) / 1000));
  return text.replace('another try:', `another try in ${seconds} s:`);
};

const waitLine = (waiting: NonNullable<FollowedTask['waiting']>): string => `  ↻ ${waitText(waiting)}`;

const lineOf = (step: FollowedStep): string => {
  const end = step.endedAt ? Date.parse(step.endedAt) : Date.now();
  const seconds = step.startedAt ? Math.max(0, (end - Date.parse(step.startedAt)) / 1000) : 0;
  const running = step.state === 'running';
  const notes = [
    step.host ? `on ${plain(step.host.name)}` : '',
    step.attempt > 1 ? `attempt ${step.attempt}` : '',
    step.progress !== null && running ? `${Math.round(step.progress)} %` : '',
    step.message && running ? plain(step.message).slice(0, 100) : '',
    step.error && step.state !== 'succeeded' ? plain(step.error.message).slice(0, 200) : '',
  ].filter((note) => note !== '');
  const title = `${step.phase === 'undo' ? 'undo: ' : ''}${plain(step.title || step.name)}`;
  return `  ${marks[step.state] ?? '…'} ${title.padEnd(36)} ${formatDuration(seconds).padStart(7)}${notes.length > 0 ? `  ${notes.join(', ')}` : ''}`;
};

const settle = (task: FollowedTask): void => {
  if (task.state === 'succeeded') return;
  const { error } = task;
  throw new CliFailure(error?.message ?? `The task ended as ${task.state}.`, {
    exitCode: exitCodes.failed,
    code: error?.code ?? task.state,
    hint: `See: vcctl task show ${task.id}`,
    ...(task.requestId !== null && { requestId: task.requestId }),
  });
};
