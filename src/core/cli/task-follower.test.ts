import type { CliContext } from './cli-context';
import { CliFailure } from './cli-failure';
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
const task = (state: string, steps: FollowedStep[], error: FollowedTask['error'] = null): FollowedTask => ({ id: 't1', type: 'compute.create-instance', state, step: null, error, requestId: 'r1', steps });

const follow = async (answers: FollowedTask[], live = false): Promise<{ text: string; failure: CliFailure | undefined }> => {
  let text = '';
  const context = { request: async () => answers.length > 1 ? answers.shift() : answers[0] } as unknown as CliContext;
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
    const { text } = await follow([task('running', [step('a', 'running', { progress: 40 })]), task('succeeded', [step('a', 'succeeded')])], true);
    expect(text).toContain('… Do a');
    expect(text).toContain('40 %');
    expect(text.endsWith('\r\u001b[K')).toBe(true);
  });

  it('ends with the cause when the task failed and was undone', async () => {
    const { text, failure } = await follow([
      task(
        'failed',
        [step('a', 'failed', { error: { code: 'disk_full', message: 'no space' } }), step('a', 'succeeded', { phase: 'undo' }), step('b', 'pending')],
        { code: 'disk_full', message: 'no space on the pool', step: 'a', host: 'h1', undone: true, hint: 'Make room.' },
      ),
    ]);
    expect(text).toMatch(/✗ Do a .*no space/);
    expect(text).toMatch(/✓ undo: Do a/);
    expect(failure).toMatchObject({ exitCode: 1, code: 'disk_full', hint: 'Make room.', requestId: 'r1' });
    expect(failure?.message).toBe('The task failed and was undone (in step a on h1): no space on the pool');
  });

  it.each(['cancelled', 'stuck'])('%s is no success', async (state) => {
    expect((await follow([task(state, [])])).failure).toMatchObject({ exitCode: 1, code: state });
  });
});
