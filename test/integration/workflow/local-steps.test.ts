import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Database } from '../../../src/core/db/database';
import {
  defineWorkflow,
  type LocalContext,
  type ReportProgress,
} from '../../../src/core/workflow/definition/definition';
import { DefinitionRegistry, type AnyDefinition } from '../../../src/core/workflow/definition/definition-registry';
import { PermanentError } from '../../../src/core/workflow/definition/workflow-error';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import type { TestEngine } from '../../support/test-engine';
import { waitFor } from '../../support/wait-for';
import {
  createLedger,
  ledger,
  newEngine,
  startOptions,
  stepRows,
  subject,
  taskRow,
} from '../../support/workflow-harness';
import { MemoryOutbox } from '../../support/memory-outbox';

type Run = (
  c: LocalContext<unknown, Record<never, never>>,
  signal: AbortSignal,
  progress: ReportProgress,
) => Promise<unknown>;

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, fail) => signal.addEventListener('abort', () => fail(new Error('stopped'))));

jest.setTimeout(180_000);

describe('a local step', () => {
  let db: TestDatabase;
  let database: Database;
  const engines: TestEngine[] = [];
  const begun: string[] = [];
  let work: Run;
  let undone: string[];

  beforeAll(async () => {
    db = await startTestDatabase({ pool: 20 });
    ({ database } = db);
    await createLedger(database);
  });
  beforeEach(() => {
    undone = [];
    begun.length = 0;
    work = async () => Promise.resolve({ bytes: 1 });
  });
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.stop();
  });
  afterAll(() => db.close());

  const definition = (type: string, over: { limit?: number; limitPerProject?: number; deadline?: '2s' } = {}) =>
    defineWorkflow(type, {
      version: 1,
      input: z.object({}),
      deadline: over.deadline ?? '10m',
      limit: over.limit ?? 8,
      ...(over.limitPerProject !== undefined && { limitPerProject: over.limitPerProject }),
    })
      .local('fetch', {
        run: (c, signal, progress) => {
          begun.push(c.taskId);
          return work(c, signal, progress);
        },
        retry: { backoff: '10ms' },
        undo: async (c, output) => {
          undone.push(`${c.taskId}:${JSON.stringify(output) ?? 'nothing'}`);
          await Promise.resolve();
        },
      })
      .tx('keep', {
        run: async (c) => ledger.add(database, c.op, c.taskId, `kept:${JSON.stringify(c.out.fetch)}`),
        noUndo: 'it is the last step',
      });

  const engine = async (
    definitions: Parameters<typeof newEngine>[1],
    settings: Record<string, number> = {},
    outbox = new MemoryOutbox(),
  ): Promise<TestEngine> => {
    const e = newEngine(database, definitions, { settings, outbox });
    engines.push(e);
    await e.start();
    return e;
  };
  const begin = async (
    e: TestEngine,
    d: ReturnType<typeof definition>,
    projectId: string | null = null,
  ): Promise<string> =>
    (await database.tx((op) => e.start(op, d, {}, { ...startOptions, projectId, subject: subject() }))).id;

  it('runs in this process, and its output is there for the steps after it', async () => {
    const d = definition('test.local');
    const e = await engine([d]);
    const id = await begin(e, d);
    expect(await e.settled(id)).toBe('succeeded');
    expect(await ledger.of(database, id)).toEqual(['kept:{"bytes":1}']);
    expect(await stepRows(database, id)).toMatchObject([{ name: 'fetch', attempt: 1 }, { name: 'keep' }]);
  });

  it('is repeated after a failure, and undone after one that is final', async () => {
    const d = definition('test.local-fails');
    const e = await engine([d]);
    let failures = 2;
    work = async () => {
      await Promise.resolve();
      if (failures-- > 0) throw new Error('the line broke');
      return { bytes: 2 };
    };
    expect(await e.settled(await begin(e, d))).toBe('succeeded');
    expect(begun).toHaveLength(3);
    work = () => Promise.reject(new PermanentError('not_a_disk', 'It is no disk.'));
    const id = await begin(e, d);
    expect(await e.settled(id)).toBe('failed');
    expect(await taskRow(database, id)).toMatchObject({ undone: true, error: { code: 'not_a_disk', step: 'fetch' } });
    expect(undone).toEqual([`${id}:nothing`]);
  });

  it('is stopped by a cancel while it works, and undone', async () => {
    const d = definition('test.local-cancelled');
    const e = await engine([d]);
    work = (_c, signal) => untilAborted(signal);
    const id = await begin(e, d);
    await waitFor('the work to begin', () => begun.length === 1);
    expect(await database.tx((op) => e.cancel(op, id, 'me'))).toBe('asked');
    expect(await e.settled(id)).toBe('cancelled');
    expect(undone).toEqual([`${id}:nothing`]);
  });

  it('is stopped at the end of its time', async () => {
    const d = definition('test.local-late', { deadline: '2s' });
    const e = await engine([d]);
    work = (_c, signal) => untilAborted(signal);
    const id = await begin(e, d);
    expect(await e.settled(id)).toBe('failed');
    expect(await taskRow(database, id)).toMatchObject({ error: { code: 'step_timeout', step: 'fetch' } });
  });

  it('keeps its lease for as long as it works, and no other process begins it', async () => {
    const d = definition('test.local-long');
    const one = await engine([d], { leaseMs: 2_000 });
    const two = await engine([d], { leaseMs: 2_000 });
    let finish: () => void = () => undefined;
    work = () => new Promise((done) => (finish = () => done({ bytes: 3 })));
    const id = await begin(one, d);
    await waitFor('the work to begin', () => begun.length === 1);
    const since = await taskRow(database, id);
    await waitFor(
      'three leases to pass',
      async () =>
        ((
          await database.query<{ past: boolean }>(
            `SELECT lease_until > $2::timestamptz + interval '4 seconds' AS past FROM task WHERE id = $1`,
            [id, since.wake_at],
          )
        )[0]?.past ?? false) === true,
    );
    finish();
    expect(await two.settled(id)).toBe('succeeded');
    expect(begun).toEqual([id]);
  });

  it('goes on elsewhere at once when its process stops, and that is no failed attempt of anybody', async () => {
    const d = definition('test.local-stopped');
    const one = newEngine(database, [d]);
    await one.start();
    work = (_c, signal) => untilAborted(signal);
    const id = await begin(one, d);
    await waitFor('the work to begin', () => begun.length === 1);
    await one.stop();
    expect(await taskRow(database, id)).toMatchObject({ state: 'running', owner: null });
    work = async () => Promise.resolve({ bytes: 4 });
    const two = await engine([d]);
    expect(await two.settled(id)).toBe('succeeded');
    expect(await database.query('SELECT deaths FROM task WHERE id = $1', [id])).toEqual([{ deaths: 0 }]);
    expect(undone).toEqual([]);
  });

  it('is given up when three processes died with it', async () => {
    const d = definition('test.local-deadly');
    const e = newEngine(database, [d]);
    const id = await begin(e, d);
    await database.query(
      `UPDATE task SET state = 'running', owner = $2, lease_until = now() - interval '1 second', wake_at = now(), deaths = 2, fence = fence + 1,
              started_at = now(), deadline = now() + interval '10 minutes' WHERE id = $1`,
      [id, `dead/${randomUUID()}`],
    );
    await database.query(
      `INSERT INTO task_step (task_id, seq, name, phase, state, attempt) VALUES ($1, 0, 'fetch', 'run', 'running', 3)`,
      [id],
    );
    engines.push(e);
    await e.start();
    expect(await e.settled(id)).toBe('failed');
    expect(await taskRow(database, id)).toMatchObject({ undone: true, error: { code: 'process_died' } });
    expect(begun).toEqual([]);
    expect(undone).toEqual([`${id}:nothing`]);
  });

  it('writes nothing in the name of a task that is no longer its own', async () => {
    const d = definition('test.local-robbed');
    const e = await engine([d]);
    let said: unknown;
    work = async (c) => {
      await database.query(`UPDATE task SET fence = fence + 1, owner = 'another' WHERE id = $1`, [c.taskId]);
      said = await c.tx((op) => ledger.add(database, op, c.taskId, 'late')).catch((error: unknown) => error);
      return { bytes: 5 };
    };
    const id = await begin(e, d);
    await waitFor('the write to be refused', () => said !== undefined);
    expect(said).toMatchObject({ name: 'LeaseLost' });
    expect(await ledger.of(database, id)).toEqual([]);
    await database.query('DELETE FROM task WHERE id = $1', [id]);
  });

  it('shows how far it is', async () => {
    const d = definition('test.local-progress');
    const outbox = new MemoryOutbox();
    const e = await engine([d], {}, outbox);
    let finish: () => void = () => undefined;
    work = (_c, _signal, progress) => {
      progress(40, 'half of it');
      return new Promise((done) => (finish = () => done({ bytes: 6 })));
    };
    const id = await begin(e, d);
    await waitFor('the progress to be told', () =>
      outbox.events.some(({ data }) => JSON.stringify(data).includes('"progress":40,"message":"half of it"')),
    );
    expect(await database.query('SELECT progress, message FROM task_step WHERE task_id = $1', [id])).toEqual([
      { progress: 40, message: 'half of it' },
    ]);
    finish();
    expect(await e.settled(id)).toBe('succeeded');
  });

  it('is at work as often as its limits allow, in all and of one project', async () => {
    const d = definition('test.local-limits', { limit: 3, limitPerProject: 2 });
    const e = await engine([d]);
    const finish: (() => void)[] = [];
    work = () => new Promise((done) => finish.push(() => done({ bytes: 7 })));
    const [mine, theirs] = [randomUUID(), randomUUID()];
    const ids: string[] = [];
    for (const project of [mine, mine, mine, theirs, theirs]) ids.push(await begin(e, d, project));
    await waitFor('as many as may be', () => finish.length === 3);
    const waiting = await waitFor('the others to wait', async () => {
      const rows = await database.query<{ id: string; project_id: string }>(
        `SELECT id, project_id FROM task WHERE id = ANY($1::uuid[]) AND state = 'queued' AND waiting_for IS NOT NULL`,
        [ids],
      );
      return rows.length === 2 ? rows : null;
    });
    // Of three of mine two at most are at work; which of them, and of theirs, is not said.
    expect(waiting.map((row) => row.project_id)).toContain(mine);
    const done = ids.map((id) => e.settled(id));
    for (let n = 0; n < ids.length; n += 1) (await waitFor('the next to begin', () => finish[n]))();
    expect(await Promise.all(done)).toEqual(Array(5).fill('succeeded'));
  });

  it('wants a limit, for it occupies a worker', () => {
    const unlimited = defineWorkflow('test.local-unlimited', {
      version: 1,
      input: z.object({}),
      deadline: '1m',
    }).local('fetch', { run: async () => Promise.resolve(), noUndo: 'nothing' });
    expect(() => new DefinitionRegistry().register(unlimited as unknown as AnyDefinition)).toThrow('no limit');
  });
});
