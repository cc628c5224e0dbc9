import type { CliContext } from '../cli-context';
import { CliFailure } from '../cli-failure';
import { followTask, type FollowedStep, type FollowedTask } from './task-follower';

const step = (name: string, state: string, more: Partial<FollowedStep> = {}): FollowedStep => ({
  name,
  title: `Do ${name}`,
  phase: 'run',
  state,
  attempt: 1,
  host: null,
  progress: null,
  startedAt: state === 'pending' ? null : '2026-01-01T00:00:00.000Z',
  endedAt: state === 'succeeded' || state === 'failed' ? '2026-01-01T00:00:01.500Z' : null,
  error: null,
  ...more,
});
const task = (state: string, steps: FollowedStep[], error: FollowedTask['error'] = null): FollowedTask => ({
  id: 't1',
  type: 'instance.create',
  state,
  step: null,
  error,
  requestId: 'r1',
  steps,
});

const follow = async (
  answers: FollowedTask[],
  live = false,
): Promise<{ text: string; failure: CliFailure | undefined }> => {
  let text = '';
  const context = { request: async () => (answers.length > 1 ? answers.shift() : answers[0]) } as unknown as CliContext;
  const failure = await followTask(context, 't1', { live, write: (part) => (text += part) }).then(
    () => undefined,
    (error: unknown) => error as CliFailure,
  );
  return { text, failure };
};

describe('followTask', () => {
  it('prints each step once, as it ends', async () => {
    const { text, failure } = await follow([
      task('running', [step('a', 'running'), step('b', 'pending')]),
      task('running', [step('a', 'succeeded'), step('b', 'running', { host: { name: 'h1' }, progress: 40 })]),
      task('succeeded', [step('a', 'succeeded'), step('b', 'succeeded', { host: { name: 'h1' }, attempt: 2 })]),
    ]);
    expect(failure).toBeUndefined();
    const lines = text.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/✓ Do a +1\.5s$/);
    expect(lines[1]).toMatch(/✓ Do b +1\.5s {2}on h1, attempt 2$/);
  });

  it('replaces the running line on a terminal', async () => {
    const { text } = await follow(
      [task('running', [step('a', 'running', { progress: 40 })]), task('succeeded', [step('a', 'succeeded')])],
      true,
    );
    expect(text).toContain('… Do a');
    expect(text).toContain('40 %');
    expect(text.endsWith('\r\u001b[K')).toBe(true);
  });

  it('ends with the whole story when the task failed and was undone', async () => {
    const message = '“Do a” failed on h1: no space on the pool. Undone: “Do a”. Make room.';
    const { text, failure } = await follow([
      task(
        'failed',
        [
          step('a', 'failed', { error: { code: 'disk_full', message: 'no space' } }),
          step('a', 'succeeded', { phase: 'undo' }),
          step('b', 'pending'),
        ],
        { code: 'disk_full', message },
      ),
    ]);
    expect(text).toMatch(/✗ Do a .*no space/);
    expect(text).toMatch(/✓ undo: Do a/);
    expect(failure).toMatchObject({
      exitCode: 1,
      code: 'disk_full',
      message,
      hint: 'See: vcctl task show t1',
      requestId: 'r1',
    });
  });

  it('says once per attempt that it waits for another try', async () => {
    const waits = (attempt: number): FollowedTask => ({
      ...task('running', [step('a', 'running', { attempt })]),
      waiting: {
        kind: 'retry',
        until: new Date(Date.now() + 60_000).toISOString(),
        text: `waiting for another try: h2 does not answer (attempt ${attempt})`,
      },
    });
    const { text } = await follow([
      waits(1),
      waits(1),
      waits(2),
      task('succeeded', [step('a', 'succeeded', { attempt: 3 })]),
    ]);
    expect(text.match(/↻ waiting for another try in \d+ s: h2 does not answer \(attempt 1\)/g)).toHaveLength(1);
    expect(text.match(/attempt 2\)/g)).toHaveLength(1);
    expect(text).toContain('attempt 3');
  });

  it('cuts a line that would wrap, for it could not be replaced', async () => {
    let text = '';
    const answers = [
      task('running', [step('a', 'running', { message: 'x'.repeat(90), progress: 3 })]),
      task('succeeded', [step('a', 'succeeded')]),
    ];
    const context = {
      request: async () => (answers.length > 1 ? answers.shift() : answers[0]),
    } as unknown as CliContext;
    await followTask(context, 't1', { live: true, columns: 60, write: (part) => (text += part) });
    expect(text.split('\r\u001b[K').every((part) => [...part.trimEnd()].length < 60)).toBe(true);
  });

  it.each(['cancelled', 'stuck'])('%s is no success', async (state) => {
    expect((await follow([task(state, [])])).failure).toMatchObject({ exitCode: 1, code: state });
  });
});
