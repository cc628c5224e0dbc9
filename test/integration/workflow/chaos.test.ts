import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { chaosWorkflow, createNodeTables, DurableNode, followUp } from '../../support/chaos-workflow';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { newEngine, startOptions, stepRows, subject, taskRow } from '../../support/workflow-harness';

const root = resolve(__dirname, '../../..');
const leaseMs = 400;

interface Worker {
  child: ChildProcess;
  line: (text: string) => Promise<void>;
  stop: () => Promise<void>;
}

const startWorker = (url: string, signal: string, boundary: string): Worker => {
  const child = spawn(
    process.execPath,
    [
      '-r',
      resolve(root, 'test/support/ts-register.js'),
      resolve(root, 'test/support/chaos-worker.ts'),
      url,
      signal,
      boundary,
      String(leaseMs),
    ],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let seen = '';
  const waiting = new Set<() => void>();
  const look = (): void => waiting.forEach((check) => check());
  child.stdout?.on('data', (data: Buffer) => {
    seen += data.toString();
    look();
  });
  child.once('exit', look);
  return {
    child,
    line: (text) =>
      new Promise((done, fail) => {
        const check = (): void => {
          if (seen.includes(`${text}\n`)) done();
          else if (child.exitCode !== null || child.signalCode !== null)
            fail(new Error(`the worker ended before "${text}" (${boundary})`));
          else return;
          waiting.delete(check);
        };
        waiting.add(check);
        check();
      }),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
};

/** Every boundary that a run of the definition passes, forward, and backward when its last step fails. */
const boundaries = (steps: readonly { name: string; kind: string }[]): { boundary: string; fail: boolean }[] => {
  const points = ['before-effect', 'after-effect', 'after-checkpoint'];
  // The last step's effect is rolled back with its failure; its own undo runs all the same.
  const forward = steps.flatMap((step) =>
    points.map((point) => ({ boundary: `run/${step.name}/${point}`, fail: false })),
  );
  const backward = [...steps]
    .reverse()
    .flatMap((step) => points.map((point) => ({ boundary: `undo/${step.name}/${point}`, fail: true })));
  // Right after the locks were handed over and taken, whatever became of the task that had them.
  const handed = points.flatMap((point) => [true, false].map((fail) => ({ boundary: `run/follow/${point}`, fail })));
  return [...forward, ...backward, ...handed];
};

describe('a worker that dies or freezes', () => {
  let db: TestDatabase;
  const workers: Worker[] = [];

  beforeAll(async () => {
    db = await startTestDatabase({ pool: 30 });
    await createNodeTables(db.database);
  }, 60_000);
  afterAll(async () => {
    for (const worker of workers) await worker.stop();
    await db.close();
  });

  const leftovers = async (taskId: string): Promise<{ done: string[]; things: string[] }> => ({
    done: (
      await db.database.query<{ what: string }>('SELECT what FROM done WHERE task_id = $1 ORDER BY 1', [taskId])
    ).map((r) => r.what),
    things: (
      await db.database.query<{ name: string }>('SELECT name FROM node_thing WHERE task_id = $1 ORDER BY 1', [taskId])
    ).map((r) => r.name),
  });

  /** Runs one case in a database of its own, so that cases may run side by side. */
  const runCase = async (
    signal: 'SIGKILL' | 'SIGSTOP',
    { boundary, fail }: { boundary: string; fail: boolean },
  ): Promise<void> => {
    const own = await startTestDatabase({ pool: 6 });
    const database = own.database;
    await createNodeTables(database);
    const [definition, follow] = [chaosWorkflow(database), followUp()];
    const survivor = newEngine(database, [definition, follow], {
      nodes: new DurableNode(database),
      settings: { leaseMs },
    });
    const worker = startWorker(own.url, signal, boundary);
    workers.push(worker);
    try {
      await worker.line('started');
      const [id, next] = await database.tx(async (op) => {
        const of = { ...startOptions, subject: subject() };
        return [
          (await survivor.start(op, definition, { fail }, of)).id,
          (await survivor.start(op, follow, {}, of)).id,
        ] as const;
      });
      await worker.line('reached');
      await survivor.start();
      const state = await survivor.settled(id);
      expect(await survivor.settled(next)).toBe('succeeded');
      const before = { steps: await stepRows(database, id), row: await taskRow(database, id) };
      if (signal === 'SIGSTOP') {
        worker.child.kill('SIGCONT');
        await worker.line('started');
        // What the thawed worker may do wrong it does within its next few statements.
        await new Promise((r) => setTimeout(r, 150));
        expect({ steps: await stepRows(database, id), row: await taskRow(database, id) }).toEqual(before);
      }
      const done = (
        await database.query<{ what: string }>(`SELECT what FROM done WHERE what <> 'follow' ORDER BY 1`)
      ).map((r) => r.what);
      expect(await database.query(`SELECT 1 FROM done WHERE what = 'follow'`)).toHaveLength(1);
      const things = (await database.query<{ name: string }>('SELECT name FROM node_thing ORDER BY 1')).map(
        (r) => r.name,
      );
      const expected = fail
        ? { state: 'failed', done: [], things: [] }
        : { state: 'succeeded', done: ['claim', 'fetch', 'finish'], things: ['another', 'claimed', 'claimed-more'] };
      const locks = await database.query('SELECT * FROM task_lock');
      expect({ boundary, state, done, things, locks }).toEqual({ boundary, ...expected, locks: [] });
      if (fail) expect(before.row.undone).toBe(true);
    } finally {
      await worker.stop();
      await survivor.stop();
      await own.close();
    }
  };

  const all = async (signal: 'SIGKILL' | 'SIGSTOP', cases: { boundary: string; fail: boolean }[]): Promise<void> => {
    const queue = [...cases];
    const lane = async (): Promise<void> => {
      for (let next = queue.shift(); next; next = queue.shift()) await runCase(signal, next);
    };
    await Promise.all([lane(), lane(), lane(), lane()]);
  };

  it('ends as the undisturbed run does', async () => {
    const definition = chaosWorkflow(db.database);
    const engine = newEngine(db.database, [definition], { nodes: new DurableNode(db.database) });
    await engine.start();
    for (const fail of [false, true]) {
      const { id } = await db.database.tx((op) =>
        engine.start(op, definition, { fail }, { ...startOptions, subject: subject() }),
      );
      expect(await engine.settled(id)).toBe(fail ? 'failed' : 'succeeded');
      expect(await leftovers(id)).toEqual(
        fail
          ? { done: [], things: [] }
          : { done: ['claim', 'fetch', 'finish'], things: ['another', 'claimed', 'claimed-more'] },
      );
    }
    await engine.stop();
  }, 30_000);

  it('leaves a task that another worker finishes, killed at every boundary', async () => {
    await all('SIGKILL', boundaries(chaosWorkflow(db.database).steps));
  }, 240_000);

  it('touches nothing when it thaws after its lease, frozen before and after effects', async () => {
    await all(
      'SIGSTOP',
      boundaries(chaosWorkflow(db.database).steps).filter(
        ({ boundary }) => /claim|make\/|follow/.test(boundary) && !/after-checkpoint/.test(boundary),
      ),
    );
  }, 180_000);
});
