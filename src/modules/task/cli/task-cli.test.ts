import { Command } from 'commander';
import type { CliContext, Outcome } from '../../../core/cli/cli-context';
import type { CliFailure } from '../../../core/cli/cli-failure';
import { filledPath } from '../../../rest/rest-target';
import type { Task, TaskDetail } from '../contract/task.api';
import { lookAtTasks } from './follow-tasks';
import { parseMoment } from './task-filters';
import { TaskCommands } from './task.command';
import { taskView } from './task-view';

const id = '0b7e9c5e-0000-4000-8000-000000000001';
const base: TaskDetail = {
  id,
  type: 'instance.create',
  state: 'failed',
  projectId: null,
  subject: { kind: 'instance', id, name: 'web\u001b[31m' },
  progress: 40,
  step: 'make',
  stepTitle: 'Make the disk',
  error: {
    code: 'no_space',
    message: '“Make the disk” failed on h1: full. Undone: “Make the disk”. Make room.',
    reason: 'full',
    step: 'make',
    stepTitle: 'Make the disk',
    host: 'h1',
    attempts: 1,
    undone: true,
    undoneSteps: [],
    leftSteps: [],
    hint: 'Make room.',
    requestId: 'r-1',
  },
  createdBy: 'u',
  requestId: 'r-1',
  parentId: null,
  children: 0,
  createdAt: '2026-01-01T00:00:00.000Z',
  startedAt: '2026-01-01T00:00:00.000Z',
  endedAt: '2026-01-01T00:00:02.000Z',
  durationMs: 2000,
  waiting: null,
  cancel: null,
  irrevocable: null,
  steps: [
    {
      name: 'make',
      title: 'Make the disk',
      phase: 'run',
      state: 'failed',
      attempt: 3,
      host: { id, name: 'h1' },
      progress: null,
      message: null,
      startedAt: null,
      endedAt: null,
      durationMs: 1500,
      nextTryAt: null,
      error: { code: 'no_space', message: 'full' },
    },
    {
      name: 'make',
      title: 'Make the disk',
      phase: 'undo',
      state: 'succeeded',
      attempt: 1,
      host: { id, name: 'h1' },
      progress: null,
      message: null,
      startedAt: null,
      endedAt: null,
      durationMs: 10,
      nextTryAt: null,
      error: null,
    },
  ],
  audit: [
    {
      at: '2026-01-01T00:00:01.000Z',
      verb: 'retry',
      step: 'make',
      reason: 'the disk is back',
      by: { id, name: 'admin' },
      requestId: 'r-2',
    },
  ],
  parent: null,
  childTasks: [],
};

interface Ran {
  requests: { method: string; path: string; body?: unknown; query?: Record<string, unknown> }[];
  lists: Record<string, unknown>[];
  printed: string;
  notes: string[];
}

const run = async (args: string[], answers: Partial<TaskDetail>[] = [{}]): Promise<Ran & { failure?: CliFailure }> => {
  const ran: Ran = { requests: [], lists: [], printed: '', notes: [] };
  const context: CliContext = {
    request: async (
      method: string,
      template: string,
      { path, ...options }: { path?: Record<string, string>; body?: unknown; query?: Record<string, unknown> } = {},
    ) => {
      ran.requests.push({ method, path: filledPath(template, path), ...options });
      return { ...base, ...(answers.length > 1 ? answers.shift() : answers[0]) };
    },
    list: async (_path: string, { query }: { query: Record<string, unknown> }) => (ran.lists.push(query), [base]),
    addNoun: () => undefined,
    resolve: async (_noun: string, ref: string) => ref,
    get: async (_noun: string, ref: string) => context.request('get', '/tasks/{id}', { path: { id: ref } }),
    printList: async (
      fetch: (search: object) => Promise<Task[]>,
      columns: { header: string; value: (t: Task) => string }[],
    ) => (ran.printed += (await fetch({})).map((row) => columns.map((c) => c.value(row)).join('|')).join('\n')),
    printText: (_object: object, text: () => string) => (ran.printed += text()),
    project: () => 'default',
    info: (line: string) => ran.notes.push(line),
    confirm: async () => true,
    each: async (refs: string[], work: (ref: string) => Promise<Outcome>) => {
      for (const ref of refs) ran.notes.push((await work(ref)).text);
    },
    follow: async () => undefined,
  } as unknown as CliContext;
  const program = new Command('vcctl').exitOverride().configureOutput({ writeErr: () => undefined });
  new TaskCommands().register(program, context);
  const failure = await program.parseAsync(['task', ...args], { from: 'user' }).then(
    () => undefined,
    (error: unknown) => error as CliFailure,
  );
  return { ...ran, ...(failure && { failure }) };
};

describe('vcctl task', () => {
  it('hands every filter on', async () => {
    const { lists } = await run([
      'list',
      '--state',
      'failed,stuck',
      '--state',
      'running',
      '--type',
      'instance.',
      '--subject',
      'web',
      '--kind',
      'instance',
      '--host',
      'h1',
      '--parent',
      id,
      '--since',
      '2026-01-01T00:00:00Z',
      '--ended-until',
      '2026-01-02T00:00:00+01:00',
      '--errors',
      '--no-system',
    ]);
    expect(lists).toEqual([
      {
        project: 'default',
        state: 'failed,stuck,running',
        type: 'instance.',
        subject: 'web',
        subjectKind: 'instance',
        host: 'h1',
        parent: id,
        createdAfter: '2026-01-01T00:00:00.000Z',
        createdBefore: undefined,
        endedAfter: undefined,
        endedBefore: '2026-01-01T23:00:00.000Z',
        errors: 'true',
        system: 'false',
      },
    ]);
    expect((await run(['list', '--all-projects'])).lists[0]).toMatchObject({ project: undefined, system: undefined });
  });

  it.each([
    ['--since', 'yesterday'],
    ['--until', '5'],
    ['--ended-since', '3w'],
    ['--limit', 'x'],
    ['--limit', '0'],
  ])('refuses %s %s as wrong usage', async (option, value) => {
    expect((await run(['list', option, value])).failure).toMatchObject({ exitCode: 2 });
  });

  it('counts ages back from now', () => {
    expect(parseMoment('2h', '--since', Date.parse('2026-01-01T02:00:00Z'))).toBe('2026-01-01T00:00:00.000Z');
    expect(parseMoment('7d', '--since', Date.parse('2026-01-08T00:00:00Z'))).toBe('2026-01-01T00:00:00.000Z');
  });

  it('shows the failure, the steps, what was undone and who interfered, and no control character', async () => {
    const { printed } = await run(['show', id]);
    expect(printed).toContain('“Make the disk” failed on h1: full. Undone: “Make the disk”. Make room.');
    expect(printed).toMatch(/✗ Make the disk +1\.5s {2}on h1, 3 attempts\n {6}full \(no_space\)/);
    expect(printed).toMatch(/Undone, in this order\n {2}✓ Make the disk/);
    expect(printed).toContain('retry at make by admin: the disk is back');
    expect(printed).toContain('r-1');
    expect(printed).not.toContain('\u001b');
  });

  it('tells what a task waits for', () => {
    const until = new Date(Date.now() + 2_500).toISOString();
    expect(
      taskView({
        ...base,
        state: 'running',
        endedAt: null,
        error: null,
        waiting: { kind: 'retry', until, text: 'waiting for another try: no answer (attempt 4)' },
      }),
    ).toMatch(/Waits +waiting for another try in \d s: no answer \(attempt 4\)/);
  });

  it('sends the reason with the verbs', async () => {
    for (const verb of ['cancel', 'retry', 'skip-step', 'abandon']) {
      const { requests } = await run([verb, id, '--reason', 'the host burned down']);
      expect(requests).toEqual([
        { method: 'post', path: `/tasks/${id}/actions/${verb}`, body: { reason: 'the host burned down' } },
      ]);
    }
  });

  it('waits for the end of a verb, and fails when the task is stuck again', async () => {
    expect(
      (await run(['retry', id, '--wait'], [{ state: 'compensating' }, { state: 'compensating' }, { state: 'failed' }]))
        .notes,
    ).toEqual([`task ${id}: failed`]);
    expect((await run(['retry', id, '--wait'], [{ state: 'compensating' }, { state: 'stuck' }])).failure).toMatchObject(
      { exitCode: 1, code: 'no_space' },
    );
  });

  it('takes the states there are, and says which was meant', async () => {
    expect((await run(['list', '--state', 'running,Stuck', '--state', 'live'])).lists[0]).toMatchObject({
      state: 'running,stuck,live',
    });
    expect((await run(['list', '--state', 'runing'])).failure).toMatchObject({
      exitCode: 2,
      message:
        '--state: "runing" is not one of queued, running, compensating, succeeded, failed, cancelled, stuck, live; did you mean running?',
    });
  });

  it('follows from now on: what is there already is not told again, its changes are', async () => {
    let out = '';
    const task: Task = { ...base, state: 'running', endedAt: null, error: null, progress: 10 };
    const old: Task = { ...base, id: '0b7e9c5e-0000-4000-8000-000000000002', state: 'succeeded', error: null };
    let listed: Task[] = [old, task];
    const context = {
      list: async () => listed,
      request: async () => task,
      printText: (_: object, text: () => string) => (out += text()),
    } as unknown as CliContext;
    const seen = new Map<string, { sign: string; live: boolean }>();
    await lookAtTasks(context, {}, 10, seen, true);
    expect(out).toBe('');
    listed = [old, { ...task, progress: 60 }];
    await lookAtTasks(context, {}, 10, seen);
    expect(out.trim().split('\n')).toEqual([expect.stringMatching(/running {2}60 %/)]);
  });

  it('prints each change of a list once, and the end of what the filter does not show any more', async () => {
    const at = (state: string, progress: number): Task => ({
      ...base,
      state: state as Task['state'],
      progress,
      endedAt: state === 'succeeded' ? base.endedAt : null,
      error: null,
    });
    let out = '';
    let listed: Task[] = [at('running', 10)];
    const context = {
      list: async () => listed,
      request: async () => at('succeeded', 100),
      printText: (_: object, text: () => string) => (out += text()),
    } as unknown as CliContext;
    const seen = new Map<string, { sign: string; live: boolean }>();
    await lookAtTasks(context, {}, 10, seen);
    await lookAtTasks(context, {}, 10, seen);
    listed = [at('running', 50)];
    await lookAtTasks(context, {}, 10, seen);
    listed = [];
    await lookAtTasks(context, {}, 10, seen);
    await lookAtTasks(context, {}, 10, seen);
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => line.replace(/^\S+ +\S+ +/, '')),
    ).toEqual([
      expect.stringMatching(/running {2}10 %/),
      expect.stringMatching(/running {2}50 %/),
      expect.stringMatching(/succeeded$/),
    ]);
  });
});
