import supertest from 'supertest';
import { z } from 'zod';
import { HttpServer } from '../../../src/core/http/server/http-server';
import { defineWorkflow } from '../../../src/core/workflow/definition/definition';
import { NodeUnreachableError } from '../../../src/core/m2m/management/node-caller';
import { PermanentError } from '../../../src/core/workflow/definition/workflow-error';
import { TaskOperations } from '../../../src/core/workflow/request/task-operations';
import { Workflows } from '../../../src/core/workflow/request/workflows';
import type { TestEngine } from '../../support/test-engine';
import { Hosts } from '../../../src/modules/host/contract/host.ports';
import type { Task, TaskDetail } from '../../../src/modules/task/contract/task.api';
import { TaskController } from '../../../src/modules/task/management/task.controller';
import { TaskListRepository } from '../../../src/modules/task/management/task-list.repository';
import { TaskRepository } from '../../../src/modules/task/management/task.repository';
import { TaskService } from '../../../src/modules/task/management/task.service';
import { coreContainer, projectA, projectB, testTls } from '../../support/http';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';
import { dropThing, hostA, makeThing, newEngine, subject } from '../../support/workflow-harness';
import { FakeNodes } from '../../support/fake-nodes';
import { NamedHosts } from './named-hosts';

jest.setTimeout(60_000);

describe('the task routes', () => {
  let db: TestDatabase;
  let engine: TestEngine;
  let http: HttpServer;
  let agent: ReturnType<typeof supertest>;
  const nodes = new FakeNodes();
  let undoFails = false;
  let surprise = false;

  const definition = defineWorkflow('test.make', {
    version: 1,
    input: z.object({ fail: z.boolean() }),
    deadline: '400ms',
    lock: () => crypto.randomUUID(),
  })
    .remote('make', {
      title: 'Make the thing',
      verb: makeThing,
      node: () => hostA,
      args: () => ({ name: 'x' }),
      timeout: '1h',
      undo: { verb: dropThing, node: () => hostA, args: () => ({ name: 'x' }) },
    })
    .tx('finish', {
      run: async (c) => {
        if (surprise) await c.op.query('SELECT "secret internals"');
        if (c.input.fail) throw new PermanentError('no_luck', 'It did not work out.');
      },
      undo: async () => {
        if (undoFails) throw new Error('cannot');
      },
    });
  const slow = defineWorkflow('test.slow', { version: 1, input: z.object({}), deadline: '10m' })
    .remote('make', {
      verb: makeThing,
      node: () => hostA,
      args: () => ({ name: 'slow' }),
      undo: { verb: dropThing, node: () => hostA, args: () => ({ name: 'x' }) },
    })
    .tx('later', { run: async () => undefined, noUndo: 'nothing' });

  beforeAll(async () => {
    db = await startTestDatabase();
    nodes.on('thing.make', (call) =>
      (call.args as { name: string }).name === 'slow' ? { done: false } : { done: true, result: { made: 'x' } },
    );
    engine = newEngine(db.database, [definition, slow], { nodes });
    const { container } = coreContainer(db.database);
    container.bind(Workflows).toConstantValue(engine.workflows);
    container.bind(TaskOperations).toConstantValue(engine.operations);
    container.bind(Hosts).toConstantValue(new NamedHosts());
    for (const one of [TaskController, TaskListRepository, TaskRepository, TaskService])
      container.bind<object>(one).toSelf().inSingletonScope();
    http = container.get(HttpServer);
    http.mount([container.get(TaskController)], []);
    const tls = testTls();
    await http.start(tls);
    agent = supertest.agent(http.address, { ca: tls.cert }) as unknown as ReturnType<typeof supertest>;
    await engine.start();
  });
  afterAll(async () => {
    await http?.stop();
    await engine?.stop();
    await db?.close();
  });
  afterEach(() => {
    undoFails = surprise = false;
  });

  const begin = (input: { fail: boolean } | null, projectId: string | null = projectA.id): Promise<string> =>
    db.database.tx(async (op) => {
      const options = { projectId, createdBy: 'someone', requestId: 'req-1', subject: subject() };
      return (input ? await engine.start(op, definition, input, options) : await engine.start(op, slow, {}, options))
        .id;
    });
  const get = (path: string, token = 'alice') => agent.get(`/api/v1${path}`).set('authorization', `Bearer ${token}`);
  const post = (path: string, token = 'alice') => agent.post(`/api/v1${path}`).set('authorization', `Bearer ${token}`);
  const detail = (res: { body: unknown }): TaskDetail => res.body as TaskDetail;
  const code = (res: { body: unknown }): unknown => (res.body as { code?: string }).code;

  it('holds the answer until the task has settled, and shows its steps, hosts and titles', async () => {
    const id = await begin({ fail: false });
    const res = await get(`/tasks/${id}?wait=10s`);
    expect(res.status).toBe(200);
    expect(detail(res)).toMatchObject({
      id,
      type: 'test.make',
      state: 'succeeded',
      progress: 100,
      projectId: projectA.id,
      requestId: 'req-1',
      createdBy: 'someone',
      error: null,
    });
    expect(detail(res).steps).toMatchObject([
      { name: 'make', title: 'Make the thing', phase: 'run', state: 'succeeded', attempt: 1, host: null },
      { name: 'finish', title: 'finish', state: 'succeeded', host: null },
    ]);
    // Hosts are for those who may see hosts.
    expect(detail(await get(`/tasks/${id}`, 'admin')).steps[0]).toMatchObject({
      name: 'make',
      host: { id: hostA, name: 'alpha-host' },
    });
  });

  it('answers when the wait is over, with the steps that are still to come', async () => {
    const id = await begin(null);
    const res = await get(`/tasks/${id}?wait=300ms`);
    expect(detail(res)).toMatchObject({ state: 'running', step: 'make', endedAt: null });
    expect(detail(res).steps).toMatchObject([
      { name: 'make', state: 'running' },
      { name: 'later', state: 'pending', startedAt: null, attempt: 0 },
    ]);
    expect((await get(`/tasks/${id}?wait=2m`)).status).toBe(422);
    expect((await get(`/tasks/${id}?wait=soon`)).status).toBe(422);
    expect((await post(`/tasks/${id}/actions/cancel`, 'viewer')).status).toBe(403);
    expect((await post(`/tasks/${id}/actions/cancel`)).status).toBe(202);
    expect(detail(await get(`/tasks/${id}?wait=10s`))).toMatchObject({
      state: 'cancelled',
      error: { code: 'cancelled', undone: true },
    });
    const again = await post(`/tasks/${id}/actions/cancel`);
    expect([again.status, code(again)]).toEqual([409, 'task_over']);
  });

  it('shows why a task failed, and that it was undone', async () => {
    const id = await begin({ fail: true });
    const task = detail(await get(`/tasks/${id}?wait=10s`));
    expect(task).toMatchObject({
      state: 'failed',
      error: { code: 'no_luck', reason: 'It did not work out.', step: 'finish', undone: true },
    });
    expect(task.error?.message).toBe(
      '“finish” failed: It did not work out. Undone: “finish”, “Make the thing”. Try again; if it fails again, show an administrator this task.',
    );
    expect(task.error?.undoneSteps).toMatchObject([
      { name: 'finish', host: null },
      { name: 'make', title: 'Make the thing', host: null },
    ]);
    expect(detail(await get(`/tasks/${id}`, 'admin')).error?.undoneSteps[1]?.host).toBe('alpha-host');
    expect(task.error?.requestId).toBe('req-1');
    expect(task.steps.map((s) => `${s.phase}:${s.name}:${s.state}`)).toEqual([
      'run:make:succeeded',
      'run:finish:failed',
      'undo:finish:succeeded',
      'undo:make:succeeded',
    ]);
  });

  it('tells system admins what an unexpected error said, and tenants that there was one', async () => {
    surprise = true;
    const id = await begin({ fail: false });
    expect(detail(await get(`/tasks/${id}?wait=10s`)).error?.message).not.toContain('secret');
    expect(detail(await get(`/tasks/${id}`, 'admin')).error?.message).toContain('secret internals');
  });

  it('keeps foreign tasks and those without project out of sight', async () => {
    const [foreign, system] = [await begin({ fail: false }, projectB.id), await begin({ fail: false }, null)];
    for (const id of [foreign, system]) {
      expect((await get(`/tasks/${id}`)).status).toBe(404);
      expect((await post(`/tasks/${id}/actions/cancel`)).status).toBe(404);
      expect((await get(`/tasks/${id}`, 'admin')).status).toBe(200);
    }
    const seen = ((await get('/tasks?limit=500')).body as { items: Task[] }).items;
    expect(seen.every((t) => t.projectId === projectA.id)).toBe(true);
    const all = ((await get('/tasks?limit=500', 'admin')).body as { items: Task[] }).items.map((t) => t.id);
    expect(all).toEqual(expect.arrayContaining([foreign, system]));
    expect((await get('/tasks/00000000-0000-4000-8000-0000000000ff')).status).toBe(404);
    expect((await get('/tasks/x')).status).toBe(422);
    for (const path of ['/tasks', `/tasks/${foreign}`])
      expect(await get(path, 'limited')).toMatchObject({
        status: 403,
        body: { code: 'forbidden', permission: 'task:read' },
      });
  });

  it('pages through tasks of the same instant, each once, newest first, and filters', async () => {
    const target = crypto.randomUUID();
    await db.database.query(
      `INSERT INTO task (id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, deadline_ms, created_by, created_at)
       SELECT gen_random_uuid(), 'test.make', 1, $1, 'thing', $2, 'n', CASE WHEN n % 2 = 0 THEN 'failed' ELSE 'succeeded' END, '{}', 1, 'x', '2026-01-01T00:00:00.123456Z' FROM generate_series(1, 50) n`,
      [projectA.id, target],
    );
    const seen: string[] = [];
    let next: string | null = '';
    while (next !== null) {
      const res = await get(`/tasks?subject=${target}&limit=7${next ? `&cursor=${next}` : ''}`);
      const page = res.body as { items: Task[]; next: string | null };
      seen.push(...page.items.map((t) => t.id));
      next = page.next;
      if (seen.length < 15) await begin({ fail: false });
    }
    expect(seen).toHaveLength(50);
    expect(new Set(seen).size).toBe(50);
    const failed = (await get(`/tasks?subject=${target}&state=failed&limit=500`)).body as { items: Task[] };
    expect(failed.items).toHaveLength(25);
    const live = (await get(`/tasks?subject=${target}&state=live`)).body as { items: Task[] };
    expect(live.items).toHaveLength(0);
    const res = await get('/tasks?cursor=nonsense');
    expect([res.status, code(res)]).toEqual([400, 'invalid_cursor']);
    expect((await get('/tasks?state=odd')).status).toBe(422);
  });

  it('gives operators, and nobody else, the verbs for stuck tasks, and keeps who used them and why', async () => {
    undoFails = true;
    const stuck = async (): Promise<string> => {
      const id = await begin({ fail: true });
      expect(detail(await get(`/tasks/${id}?wait=20s`)).state).toBe('stuck');
      return id;
    };
    const [a, b, c] = [await stuck(), await stuck(), await stuck()];
    const seen = detail(await get(`/tasks/${a}`)).error;
    expect(seen).toMatchObject({
      undone: false,
      undoneSteps: [],
      leftSteps: [{ name: 'finish' }, { name: 'make', host: null, reason: null }],
    });
    expect(detail(await get(`/tasks/${a}`, 'admin')).error?.leftSteps[1]).toMatchObject({
      name: 'make',
      host: 'alpha-host',
    });
    expect(seen?.message).toContain('“finish” failed: It did not work out. Could not be undone: “finish” (');
    expect(seen?.message).toContain('Not undone yet: “Make the thing”. An administrator must look at it.');
    expect(detail(await get(`/tasks/${a}`, 'admin')).error?.hint).toContain(`vcctl task retry ${a}`);
    expect((await post(`/tasks/${a}/actions/retry`)).status).toBe(403);
    undoFails = false;
    const retried = await post(`/tasks/${a}/actions/retry`, 'admin').send({ reason: 'the disk is back' });
    expect([retried.status, detail(retried).audit]).toMatchObject([
      202,
      [{ verb: 'retry', step: 'finish', reason: 'the disk is back', by: { name: 'admin' } }],
    ]);
    expect(detail(await get(`/tasks/${a}?wait=10s`))).toMatchObject({
      state: 'failed',
      error: { undone: true },
      audit: [{ verb: 'retry', by: null }],
    });
    undoFails = true;
    expect((await post(`/tasks/${b}/actions/skip-step`, 'admin')).status).toBe(202);
    const skipped = detail(await get(`/tasks/${b}?wait=10s`));
    expect(skipped.steps.map((s) => `${s.phase}:${s.name}:${s.state}`)).toContain('undo:finish:skipped');
    expect(skipped).toMatchObject({
      state: 'failed',
      error: {
        undone: false,
        leftSteps: [{ name: 'finish', reason: 'passed over by an operator' }],
        undoneSteps: [{ name: 'make' }],
      },
    });
    expect(detail(await post(`/tasks/${c}/actions/abandon`, 'admin'))).toMatchObject({
      state: 'failed',
      error: { undone: false },
    });
    expect(detail(await get(`/tasks/${c}`)).error?.message).toContain('It was abandoned by an operator');
    const late = await post(`/tasks/${c}/actions/retry`, 'admin').send({ reason: 'never mind' });
    expect([late.status, code(late)]).toEqual([409, 'task_not_stuck']);
    expect(detail(await get(`/tasks/${c}`, 'admin')).audit).toMatchObject([
      { verb: 'abandon', reason: null, step: 'finish' },
    ]);
    const long = await post(`/tasks/${c}/actions/retry`, 'admin').send({ reason: 'x'.repeat(300) });
    expect([long.status, (long.body as { errors: { path: string }[] }).errors[0]?.path]).toEqual([422, 'body.reason']);
  });

  it('says what a task waits for: another try, its host, its lock', async () => {
    nodes.on('thing.make', () => {
      throw new NodeUnreachableError(hostA, 'it does not answer');
    });
    const id = await db.database.tx(
      async (op) =>
        (
          await engine.start(
            op,
            slow,
            {},
            { projectId: projectA.id, createdBy: 'someone', requestId: 'req-2', subject: subject() },
          )
        ).id,
    );
    const waiting = await waitFor('what the task waits for', async () => {
      const task = detail(await get(`/tasks/${id}`));
      return task.waiting?.kind === 'retry' && (task.steps[0]?.attempt ?? 0) > 1 ? task : undefined;
    });
    expect(waiting.waiting?.text).toMatch(/^waiting for another try: The host cannot be reached \(attempt \d+\)$/);
    expect(detail(await get(`/tasks/${id}`, 'admin')).waiting?.text).toMatch(
      /^waiting for another try: The host cannot be reached\. \(it does not answer\) \(attempt \d+\)$/,
    );
    expect(waiting.steps[0]).toMatchObject({
      state: 'running',
      nextTryAt: waiting.waiting?.until,
      error: { code: 'node_unreachable' },
      host: null,
    });
    nodes.on('thing.make', () => ({ done: false }));
    const atWork = await waitFor('what the task waits for', async () => {
      const task = detail(await get(`/tasks/${id}`));
      return task.waiting?.kind === 'host' ? task : undefined;
    });
    await engine.onProgress(hostA, `${id}/make/run`, 40, 'half way');
    expect(detail(await get(`/tasks/${id}`))).toMatchObject({
      waiting: { text: 'the host is at work: half way' },
      steps: [{ progress: 40, message: 'half way', nextTryAt: null }, {}],
    });
    expect(atWork.steps[0]?.durationMs).toBeGreaterThan(0);
    expect(detail(await post(`/tasks/${id}/actions/cancel`).send({ reason: 'not needed' }))).toMatchObject({
      cancel: { reason: 'The task was cancelled.' },
      audit: [{ verb: 'cancel', reason: 'not needed', by: { name: 'alice' } }],
    });
    await get(`/tasks/${id}?wait=10s`);
    nodes.on('thing.make', (call) =>
      (call.args as { name: string }).name === 'slow' ? { done: false } : { done: true, result: { made: 'x' } },
    );
  });

  it('shows the parent and the children of a task', async () => {
    const [parent, child] = [crypto.randomUUID(), crypto.randomUUID()];
    await db.database.query(
      `INSERT INTO task (id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, deadline_ms, created_by, parent_id, children, progress)
       VALUES ($1, 'test.make', 1, $3, 'thing', $1, 'p', 'stuck', '{}', 1, 'x', NULL, 1, 50), ($2, 'test.make', 1, $3, 'thing', $2, 'c', 'stuck', '{}', 1, 'x', $1, 0, 10)`,
      [parent, child, projectA.id],
    );
    expect(detail(await get(`/tasks/${parent}`))).toMatchObject({
      parent: null,
      children: 1,
      childTasks: [{ id: child, state: 'stuck', progress: 10, subject: { name: 'c' } }],
    });
    expect(detail(await get(`/tasks/${child}`))).toMatchObject({
      parent: { id: parent, progress: 50 },
      parentId: parent,
      childTasks: [],
    });
    expect(((await get(`/tasks?parent=${parent}`)).body as { items: Task[] }).items.map((t) => t.id)).toEqual([child]);
    await db.database.query('DELETE FROM task WHERE id = ANY($1::uuid[])', [[parent, child]]);
  });
});
