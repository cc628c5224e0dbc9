import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as timeOrdered } from 'uuid';
import { z } from 'zod';
import { Journal } from '../../../src/core/host/journal/journal';
import { HttpsManagementClient } from '../../../src/core/m2m/node/https-management-client';
import { NodeServer } from '../../../src/core/m2m/node/node-server';
import { defineVerb } from '../../../src/core/m2m/verbs/verb';
import { handle, type VerbHandler, VerbHandlers } from '../../../src/core/m2m/verbs/verb-handler';
import { Management } from './harness';
import { Agent } from './agent-harness';
import { eventually, tempDir } from './harness-parts';
import { attemptsIn, type DeathPoint, ensureThing, thingsIn } from './journal-child';

jest.setTimeout(60_000);

const register = join(__dirname, '../../support/ts-register.js');
const grow = defineVerb('test.grow', {
  args: z.strictObject({}),
  result: z.object({ total: z.number(), text: z.string() }),
  timeoutMs: 2_000,
});

class Growing extends VerbHandlers {
  total = 0;
  text = '';
  handlers(): VerbHandler[] {
    return [handle(grow, async () => ({ total: (this.total += 1), text: this.text }))];
  }
}

let management: Management;
beforeAll(async () => {
  management = await Management.start({ m2m: { breakerFailures: 100, breakerOpenMs: 50 } });
});
afterAll(() => management.stop());

/** A task's row as the engine leaves it. */
const putTask = (id: string, state: string, fence = 1): Promise<unknown> =>
  management.database.query(
    `INSERT INTO task (id, type, version, subject_kind, subject_id, subject_name, state, input, fence, deadline_ms, created_by)
     VALUES ($1, 'test', 1, 'thing', $1, 'thing', $2, '{}', $3, 1000, 'test') ON CONFLICT (id) DO UPDATE SET state = excluded.state, fence = excluded.fence`,
    [id, state, fence],
  );

describe('an agent that is killed', () => {
  const children: ChildProcess[] = [];
  afterEach(() => children.splice(0).forEach((child) => child.kill('SIGKILL')));

  const start = async (
    state: string,
    name: string,
    port: number,
    token: string,
    point: DeathPoint,
  ): Promise<{ hostId: string; port: number; ended: Promise<unknown> }> => {
    const child = spawn(
      process.execPath,
      ['-r', register, join(__dirname, 'journal-child.ts'), state, name, String(port), token, point],
      { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
    );
    children.push(child);
    const ended = once(child, 'exit');
    const [hello] = (await Promise.race([
      once(child, 'message'),
      ended.then(() => Promise.reject(new Error('the agent did not start'))),
    ])) as [{ hostId: string; port: number }];
    return { ...hello, ended };
  };

  it.each([
    ['before-effect', 2],
    ['after-effect', 2],
    ['after-journal', 1],
  ] as const)('%s answers the repeated key as if nothing had been, with one effect', async (point, attempts) => {
    const dir = tempDir();
    try {
      const name = `killed-${point}`;
      const first = await start(dir.path, name, 0, await management.token(), point);
      const key = `${timeOrdered()}/make/run`;
      await expect(
        management.caller.call(first.hostId, ensureThing, { name: 'it' }, { key, fence: 2 }),
      ).rejects.toThrow('does not answer');
      await first.ended;
      await start(dir.path, name, first.port, '', 'never');
      const call = (fence: number) => management.caller.call(first.hostId, ensureThing, { name: 'it' }, { key, fence });
      const answer = await eventually('back', () =>
        call(3).catch((error: { code?: string }) => (error.code === undefined ? false : Promise.reject(error))),
      );
      expect(answer).toEqual({ done: true, result: { attempt: attempts } });
      expect(await call(3)).toEqual(answer);
      expect(thingsIn(dir.path)).toEqual(['it']);
      expect(attemptsIn(dir.path)).toHaveLength(attempts);
      await expect(call(2)).rejects.toMatchObject({ code: 'stale_fence', permanent: true });
    } finally {
      dir.remove();
    }
  });

  it('loses no record that it called stored, wherever it is killed while the file is written anew', async () => {
    const dir = tempDir();
    let stored = 0;
    for (let round = 0; round < 6; round += 1) {
      const child = spawn(process.execPath, ['-r', register, join(__dirname, 'journal-writer.ts'), dir.path], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
      await eventually('records', () => text.split('\n').length > 8 + round);
      const ended = once(child, 'close');
      child.kill('SIGKILL');
      await ended;
      stored = Math.max(stored, ...text.split('\n').slice(0, -1).map(Number));
      const journal = new Journal<number>({ dir: dir.path });
      const opened = await journal.open();
      expect(opened).toMatchObject({ damaged: 0, emptied: false });
      expect(journal.get('counter')).toBeGreaterThanOrEqual(stored);
      expect(existsSync(join(dir.path, 'journal.log.new'))).toBe(false);
      await journal.close();
    }
    expect(stored).toBeGreaterThan(20);
    expect(statSync(join(dir.path, 'journal.log')).size).toBeLessThan(400_000);
    dir.remove();
  });
});

describe('the journal of a running agent', () => {
  let agent: Agent;
  let verbs: Growing;
  const start = async (state?: string): Promise<Agent> => {
    verbs = new Growing();
    agent = await Agent.start({
      name: 'keeper',
      token: await management.token(),
      verbs: [verbs],
      ...(state !== undefined && { state }),
    });
    return agent;
  };
  const call = (task: string, step: string, fence = 1, phase = 'run') =>
    management.caller.call(agent.hostId, grow, {}, { key: `${task}/${step}/${phase}`, fence });
  const outcome = (task: string, step: string) => management.caller.outcome(agent.hostId, grow, `${task}/${step}/run`);
  const restart = async (): Promise<void> => {
    const { dir } = agent;
    await agent.stop();
    await start(dir);
    await eventually('back', () =>
      outcome(timeOrdered(), 'x').catch((error: { code?: string }) => error.code === 'unknown_key'),
    );
  };
  beforeAll(() => start());
  afterAll(() => agent.destroy());

  it('forgets what management says is over, and nothing else', async () => {
    const states = ['queued', 'running', 'compensating', 'stuck', 'succeeded', 'failed', 'cancelled'];
    const tasks = new Map(states.map((state) => [state, timeOrdered()]));
    for (const [state, task] of tasks) {
      await putTask(task, state);
      await call(task, 'a');
    }
    await agent.container.get(NodeServer).tidyJournal(0);
    for (const [state, task] of tasks) {
      const over = ['succeeded', 'failed', 'cancelled'].includes(state);
      if (over) await expect(outcome(task, 'a')).rejects.toMatchObject({ code: 'unknown_key' });
      else expect(await outcome(task, 'a')).toMatchObject({ done: true });
      await expect(call(task, 'b', 0)).rejects.toMatchObject({ code: 'stale_fence' });
    }
  });

  it('forgets nothing while management is away', async () => {
    const task = timeOrdered();
    await putTask(task, 'succeeded');
    await call(task, 'a');
    const post = jest.spyOn(agent.container.get(HttpsManagementClient), 'post').mockRejectedValue(new Error('away'));
    await expect(agent.container.get(NodeServer).tidyJournal(0)).rejects.toThrow('away');
    expect(await outcome(task, 'a')).toMatchObject({ done: true });
    post.mockRestore();
  });

  it('refuses late calls of forgotten tasks, and admits those of live ones, by asking management', async () => {
    const [over, live] = [
      timeOrdered({ msecs: Date.now() - 7_200_000 }),
      timeOrdered({ msecs: Date.now() - 7_100_000 }),
    ];
    await putTask(over, 'failed', 4);
    await putTask(live, 'running', 6);
    await call(over, 'a', 4);
    const hours = jest.spyOn(Date, 'now');
    const tidy = async (): Promise<void> => {
      await agent.container.get(NodeServer).tidyJournal(0);
      hours.mockReturnValue(Date.now() + 2 * 3_600_000);
      await agent.container.get(NodeServer).tidyJournal(0);
      hours.mockRestore();
    };
    await tidy();
    await restart();
    // A file that was written anew has the fence no longer: only management knows.
    const file = join(agent.dir, 'journal', 'journal.log');
    const { dir } = agent;
    await agent.stop();
    writeFileSync(
      file,
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => !line.includes(over))
        .join('\n'),
    );
    await start(dir);
    await eventually('back', () =>
      outcome(timeOrdered(), 'x').catch((error: { code?: string }) => error.code === 'unknown_key'),
    );
    await expect(call(over, 'b', 4)).rejects.toMatchObject({ code: 'stale_fence', permanent: true });
    await expect(call(live, 'a', 5)).rejects.toMatchObject({ code: 'stale_fence', permanent: true });
    expect(await call(live, 'a', 6)).toMatchObject({ done: true });
    const post = jest.spyOn(agent.container.get(HttpsManagementClient), 'post').mockRejectedValue(new Error('away'));
    await expect(call(timeOrdered({ msecs: Date.now() - 7_150_000 }), 'a', 1)).rejects.toMatchObject({
      code: 'not_verified',
      permanent: false,
    });
    post.mockRestore();
  });

  it('begins no step whose undo was asked for, also after a restart', async () => {
    const task = timeOrdered();
    await call(task, 'a');
    await call(task, 'b', 1, 'undo');
    const before = verbs.total;
    await expect(call(task, 'b')).rejects.toMatchObject({ code: 'undone', permanent: true });
    await restart();
    await expect(call(task, 'b', 2)).rejects.toMatchObject({ code: 'undone', permanent: true });
    expect(verbs.total).toBe(0);
    expect(before).toBeGreaterThan(0);
    expect(await call(task, 'c', 2)).toMatchObject({ done: true });
  });

  it('reports an emptied journal and goes on', async () => {
    const task = timeOrdered();
    await call(task, 'a');
    const { dir } = agent;
    await agent.stop();
    writeFileSync(join(dir, 'journal', 'journal.log'), '');
    await start(dir);
    await eventually('back', () =>
      call(task, 'a').then(
        () => true,
        () => false,
      ),
    );
    expect(verbs.total).toBe(1);
  });
});

describe('a full disk', () => {
  it('makes verbs fail clean: nothing is claimed, and all goes on once there is room', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'vc-full-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', dir]);
    const verbs = new Growing();
    verbs.text = 'x'.repeat(4_000);
    let agent: Agent | undefined;
    try {
      agent = await Agent.start({ name: 'full', state: dir, token: await management.token(), verbs: [verbs] });
      const { hostId } = agent;
      const task = timeOrdered();
      const kept: number[] = [];
      let refused: { code?: string; permanent?: boolean } | undefined;
      for (let n = 0; n < 200 && !refused; n += 1) {
        await management.caller.call(hostId, grow, {}, { key: `${task}/s${n}/run`, fence: 1 }).then(
          () => kept.push(n),
          (error: { code?: string; permanent?: boolean }) => (refused = error),
        );
      }
      expect(refused).toMatchObject({ code: 'journal_failed', permanent: false });
      const failing = `${task}/s${kept.length}/run`;
      await expect(management.caller.outcome(hostId, grow, failing)).rejects.toMatchObject({ permanent: false });
      await expect(management.caller.call(hostId, grow, {}, { key: failing, fence: 1 })).rejects.toMatchObject({
        code: 'journal_failed',
      });

      execFileSync('mount', ['-o', 'remount,size=4m', dir]);
      expect(await management.caller.call(hostId, grow, {}, { key: failing, fence: 1 })).toMatchObject({
        done: true,
        result: { total: verbs.total },
      });
      await agent.stop();
      agent = await Agent.start({ name: 'full', state: dir, verbs: [new Growing()] });
      await eventually('back', () =>
        management.caller.outcome(hostId, grow, failing).then(
          () => true,
          (error: { code?: string }) => error.code !== undefined && Promise.reject(error),
        ),
      );
      for (const n of kept)
        expect(await management.caller.outcome(hostId, grow, `${task}/s${n}/run`)).toMatchObject({
          done: true,
          result: { total: n + 1 },
        });
    } finally {
      await agent?.stop();
      execFileSync('umount', ['-l', dir]);
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
