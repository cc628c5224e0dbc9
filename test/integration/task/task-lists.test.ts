import supertest from 'supertest';
import type { Op } from '../../../src/core/db/rows/op';
import { HttpServer } from '../../../src/core/http/server/http-server';
import { TaskOperations } from '../../../src/core/workflow/request/task-operations';
import { Workflows } from '../../../src/core/workflow/request/workflows';
import type { TestEngine } from '../../support/test-engine';
import { Hosts, type SchedulableHost } from '../../../src/modules/host/contract/host.ports';
import type { Task } from '../../../src/modules/task/contract/task.api';
import { TaskController } from '../../../src/modules/task/management/task.controller';
import { TaskListRepository, type TaskFilter } from '../../../src/modules/task/management/task-list.repository';
import { TaskRepository } from '../../../src/modules/task/management/task.repository';
import { TaskService } from '../../../src/modules/task/management/task.service';
import { coreContainer, projectA, projectB, testTls } from '../../support/http';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { newEngine } from '../../support/workflow-harness';

jest.setTimeout(240_000);

const archived = 200_000;
const batch = 20_000;
const [busyHost, rareHost] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
const rareSubject = '33333333-3333-4333-8333-333333333333';
const parent = '44444444-4444-4444-8444-444444444444';

class NamedHosts extends Hosts {
  override async all(): Promise<SchedulableHost[]> {
    return [{ id: rareHost, name: 'rare-host' } as SchedulableHost];
  }
  override async byId(): Promise<undefined> {
    return undefined;
  }
  override async names(_op: Op, ids: string[]): Promise<Map<string, string>> {
    return new Map(ids.map((id) => [id, id === rareHost ? 'rare-host' : 'busy-host']));
  }
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** Most tasks are the system's, of one host and succeeded, as in life; what is looked for is rare. */
const fill = async (db: TestDatabase): Promise<void> => {
  const { database } = db;
  for (let from = 1; from <= archived; from += batch)
    await database.query(
      `INSERT INTO task_archive (id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, cursor, progress, error, undone, parent_id, children, children_left, priority, created_by, created_at, started_at, ended_at, steps)
     SELECT gen_random_uuid(),
            CASE WHEN n % 10 < 8 THEN 'host.sync-network' WHEN n % 1000 = 8 THEN 'image.import' WHEN n % 2 = 0 THEN 'instance.create' ELSE 'instance.delete' END, 1,
            CASE WHEN n % 10 < 8 THEN NULL WHEN n % 5000 = 9 THEN $2::uuid ELSE $1::uuid END,
            CASE WHEN n % 10 < 8 THEN 'host' WHEN n % 1000 = 8 THEN 'image' ELSE 'instance' END,
            CASE WHEN n % 20000 = 19 THEN $3::uuid ELSE gen_random_uuid() END,
            CASE WHEN n % 10 < 8 THEN 'networks' ELSE 'i-' || n % 500 END,
            CASE WHEN n % 2000 = 29 THEN 'failed' WHEN n % 3000 = 49 THEN 'cancelled' ELSE 'succeeded' END, '{}', 1, 100,
            CASE WHEN n % 2000 = 29 THEN '{"code":"no_luck","message":"It failed.","step":"a","host":null,"hint":null}'::jsonb WHEN n % 3000 = 49 THEN '{"code":"cancelled","message":"Cancelled.","step":null,"host":null,"hint":null}'::jsonb END,
            true, CASE WHEN n % 40000 = 39 THEN $6::uuid END, 0, 0, 1,
            CASE WHEN n % 10 < 8 THEN 'system' ELSE 'somebody' END,
            timestamptz '2026-01-01' + n * interval '1 second', timestamptz '2026-01-01' + n * interval '1 second', timestamptz '2026-01-01 00:00:05' + n * interval '1 second',
            jsonb_build_array(jsonb_build_object('task_id', NULL, 'seq', 0, 'name', 'a', 'phase', 'run', 'state', CASE WHEN n % 2000 = 29 THEN 'failed' ELSE 'succeeded' END, 'attempt', 1, 'accepted', false, 'call', 0,
              'host_id', CASE WHEN n % 10000 = 77 THEN $5::uuid ELSE $4::uuid END, 'started_at', '2026-01-01T00:00:00Z'))
       FROM generate_series($7::int, $8::int) n`,
      [projectA.id, projectB.id, rareSubject, busyHost, rareHost, parent, from, from + batch - 1],
    );
  await database.query(
    `INSERT INTO task (id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, deadline_ms, created_by, created_at)
     SELECT gen_random_uuid(), 'instance.create', 1, $1, 'instance', gen_random_uuid(), 'now-' || n, CASE WHEN n % 100 = 0 THEN 'stuck' ELSE 'running' END, '{}', 1, 'somebody', timestamptz '2026-03-01' + n * interval '1 second' FROM generate_series(1, 2000) n`,
    [projectA.id],
  );
  await database.query(
    `INSERT INTO task_step (task_id, seq, name, phase, state, host_id) SELECT id, n, 's' || n, 'run', 'running', CASE WHEN subject_name = 'now-7' THEN $2::uuid ELSE $1::uuid END FROM task CROSS JOIN generate_series(0, 4) n`,
    [busyHost, rareHost],
  );
  await database.query('ANALYZE task, task_archive, task_archive_host, task_step');
};

describe('lists of tasks', () => {
  let db: TestDatabase;
  let engine: TestEngine;
  let http: HttpServer;
  let agent: ReturnType<typeof supertest>;
  const lists = new TaskListRepository();

  beforeAll(async () => {
    db = await startTestDatabase();
    await fill(db);
    engine = newEngine(db.database, []);
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
  });
  afterAll(async () => {
    await http?.stop();
    await engine?.stop();
    await db?.close();
  });

  const get = (query: string, token = 'admin') =>
    agent.get(`/api/v1/tasks?${query}`).set('authorization', `Bearer ${token}`);
  const items = async (query: string, token = 'admin'): Promise<Task[]> => {
    const res = await get(query, token);
    expect([query, res.status]).toEqual([query, 200]);
    return (res.body as { items: Task[] }).items;
  };

  /** Every row that a table gave or that a filter threw away, over the whole plan. */
  const touched = (node: PlanNode): { rows: number; seq: string[] } => {
    const below = (node.Plans ?? []).map(touched);
    const own =
      node['Relation Name'] === undefined
        ? 0
        : (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
    return {
      rows: own + below.reduce((sum, b) => sum + b.rows, 0),
      seq: [
        ...(node['Node Type'] === 'Seq Scan' && node['Relation Name'] !== 'task' ? [node['Relation Name'] ?? ''] : []),
        ...below.flatMap((b) => b.seq),
      ],
    };
  };

  const page: Pick<TaskFilter, 'projects' | 'limit'> = { projects: 'all', limit: 51 };
  const cases: [string, Partial<TaskFilter>, number?][] = [
    ['nothing', {}],
    ['without the system’s own', { withoutSystem: true }],
    ['one project', { projects: [projectA.id] }],
    ['several projects', { projects: [projectA.id, projectB.id] }],
    ['a rare project', { projects: [projectB.id] }],
    ['live', { states: ['queued', 'running', 'compensating', 'stuck'] }],
    ['stuck', { states: ['stuck'] }],
    ['failed', { states: ['failed'] }],
    ['failed and cancelled', { states: ['failed', 'cancelled'] }],
    ['failed of a project', { states: ['failed'], projects: [projectA.id] }],
    ['failed of several projects', { states: ['failed'], projects: [projectA.id, projectB.id] }],
    ['succeeded', { states: ['succeeded'] }],
    ['errors', { errors: true }],
    ['errors of a project', { errors: true, projects: [projectA.id] }],
    ['errors of a type', { errors: true, types: ['instance.create'] }],
    ['one type', { types: ['image.import'] }],
    ['several types', { types: ['image.import', 'instance.create'] }],
    ['several types of a project', { types: ['image.import', 'instance.create'], projects: [projectA.id] }],
    [
      'several types of several projects',
      { types: ['image.import', 'instance.create'], projects: [projectA.id, projectB.id] },
    ],
    ['a subject', { subjectId: rareSubject }],
    ['a subject of several projects', { subjectId: rareSubject, projects: [projectA.id, projectB.id] }],
    ['a name', { subjectName: 'i-99' }],
    ['a name of a kind', { subjectName: 'i-99', subjectKind: 'instance' }],
    ['a kind', { subjectKind: 'image' }],
    ['a kind without the system’s own', { subjectKind: 'instance', withoutSystem: true }],
    ['a busy host', { hostId: busyHost }],
    ['a rare host', { hostId: rareHost }],
    [
      'a host in a time',
      { hostId: busyHost, createdAfter: '2026-01-02T00:00:00Z', createdBefore: '2026-01-02T01:00:00Z' },
    ],
    ['a parent', { parentId: parent }],
    ['made in a time', { createdAfter: '2026-01-02T00:00:00Z', createdBefore: '2026-01-02T01:00:00Z' }],
    [
      'made in a time, in a project',
      { createdAfter: '2026-01-02T00:00:00Z', createdBefore: '2026-01-02T01:00:00Z', projects: [projectA.id] },
    ],
    ['ended in a time', { endedAfter: '2026-01-02T00:00:00Z', endedBefore: '2026-01-02T00:10:00Z' }],
    ['ended from a time on', { endedAfter: '2026-01-02T00:00:00Z' }],
    ['ended before a time', { endedBefore: '2026-01-02T00:10:00Z' }],
    ['a deep page', { after: { created: '2026-01-01T10:00:00.000000Z', id: rareSubject } }],
    [
      'a deep page of a project',
      { projects: [projectA.id], after: { created: '2026-01-01T10:00:00.000000Z', id: rareSubject } },
    ],
    [
      'all at once',
      {
        projects: [projectA.id, projectB.id],
        states: ['failed', 'stuck'],
        types: ['instance.create', 'image.import'],
        subjectKind: 'instance',
        hostId: busyHost,
        createdAfter: '2026-01-01T00:00:00Z',
        endedAfter: '2026-01-01T00:00:00Z',
        errors: true,
        withoutSystem: true,
      },
      60_000,
    ],
  ];

  it.each(cases)('reads few rows, by an index, for %s', async (_name, filter, most = 9_000) => {
    const statement = lists.statement({ ...page, ...filter });
    if (!statement) throw new Error('no statement');
    const [row] = await db.database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${statement.sql}`,
      statement.params,
    );
    const plan = row?.['QUERY PLAN'][0].Plan;
    if (!plan) throw new Error('no plan');
    const { rows, seq } = touched(plan);
    expect(seq).toEqual([]);
    expect(rows).toBeLessThan(most);
  });

  it('finds by each filter', async () => {
    expect((await items('state=failed&limit=500')).length).toBe(archived / 2000);
    expect((await items('state=failed,cancelled&limit=500')).length).toBe(
      archived / 2000 + Math.ceil((archived - 49) / 3000),
    );
    expect((await items('state=failed&state=stuck&limit=500')).length).toBe(archived / 2000 + 20);
    expect((await items('errors=true&limit=500')).every((t) => t.state === 'failed')).toBe(true);
    expect((await items('type=image.import&limit=500')).length).toBe(archived / 1000);
    expect((await items('type=image.&limit=500')).length).toBe(archived / 1000);
    expect(new Set((await items('type=instance.&state=failed,succeeded&limit=500')).map((t) => t.type))).toEqual(
      new Set(['instance.create', 'instance.delete']),
    );
    expect(await items('type=nowhere.')).toEqual([]);
    expect((await items(`subject=${rareSubject}&limit=500`)).length).toBe(archived / 20000);
    expect((await items('subject=i-99&limit=500')).every((t) => t.subject.name === 'i-99')).toBe(true);
    expect((await items('subjectKind=image')).every((t) => t.subject.kind === 'image')).toBe(true);
    expect((await items('host=rare-host&limit=500')).length).toBe(archived / 10000 + 1);
    expect((await items(`host=${rareHost}&state=succeeded&limit=500`)).length).toBe(archived / 10000);
    expect((await items(`parent=${parent}`)).length).toBe(archived / 40000);
    expect((await items('system=false')).some((t) => t.createdBy === 'system')).toBe(false);
    expect((await items('createdAfter=2026-01-01T01:00:00%2B01:00&createdBefore=2026-01-01T00:00:10Z')).length).toBe(9);
    expect((await items('endedAfter=2026-01-01T00:00:10Z&endedBefore=2026-01-01T00:00:12Z')).length).toBe(2);
    expect((await items('project=beta&limit=500')).every((t) => t.projectId === projectB.id)).toBe(true);
    expect((await items('limit=500', 'alice')).every((t) => t.projectId === projectA.id)).toBe(true);
    expect((await items(`parent=${parent}`, 'nobody')).length).toBe(0);
  });

  it('pages through both tables, each task once, newest first', async () => {
    const seen: Task[] = [];
    let cursor: string | null = '';
    while (cursor !== null && seen.length < 6_000) {
      const res = await get(`system=false&limit=500${cursor === '' ? '' : `&cursor=${cursor}`}`);
      const body = res.body as { items: Task[]; next: string | null };
      seen.push(...body.items);
      cursor = body.next;
    }
    expect(new Set(seen.map((t) => t.id)).size).toBe(seen.length);
    expect(seen.map((t) => t.createdAt)).toEqual(
      seen
        .map((t) => t.createdAt)
        .sort()
        .reverse(),
    );
    expect(seen.filter((t) => t.state === 'running' || t.state === 'stuck')).toHaveLength(2_000);
    const byHost: string[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const body = (await get(`host=rare-host&limit=7${next === '' ? '' : `&cursor=${next}`}`)).body as {
        items: Task[];
        next: string | null;
      };
      byHost.push(...body.items.map((t) => t.id));
      next = body.next;
    }
    expect(new Set(byHost).size).toBe(archived / 10000 + 1);
  });

  it('reads an archived task as any other', async () => {
    const [failed] = await items('state=failed&limit=1');
    const res = await agent.get(`/api/v1/tasks/${failed?.id ?? ''}`).set('authorization', 'Bearer admin');
    expect(res.body).toMatchObject({
      state: 'failed',
      error: { message: expect.stringContaining('“a” failed on busy-host: It failed.') },
      steps: [{ name: 'a', state: 'failed', host: { name: 'busy-host' } }],
      waiting: null,
    });
  });

  it.each([
    ['state=odd', 'query.state', 422],
    ['state=', 'query.state', 422],
    ['state=failed,,stuck', 'query.state', 422],
    ['type=Compute', 'query.type', 422],
    ["type=instance.';--", 'query.type', 422],
    ['type=a.b.c.d.e.f', 'query.type', 422],
    [`type=${Array.from({ length: 21 }, (_, n) => `a.b${n}`).join(',')}`, 'query.type', 422],
    ['subject=', 'query.subject', 422],
    ['subject=a%00b', 'query.subject', 422],
    ['subject=a&subject=b', 'query.subject', 400],
    ['subjectKind=Instance', 'query.subjectKind', 422],
    ['host=', 'query.host', 422],
    ['host=nowhere', 'query.host', 422],
    ['host=%00', 'query.host', 422],
    ['parent=x', 'query.parent', 422],
    ['createdAfter=yesterday', 'query.createdAfter', 422],
    ['createdAfter=2026-01-01', 'query.createdAfter', 422],
    ['createdAfter=0000-01-01T00:00:00Z', 'query.createdAfter', 422],
    ['createdBefore=2026-13-01T00:00:00Z', 'query.createdBefore', 422],
    ['createdBefore=2026-02-30T00:00:00Z', 'query.createdBefore', 422],
    ['endedAfter=1.5', 'query.endedAfter', 422],
    ['endedBefore=infinity', 'query.endedBefore', 422],
    ['errors=maybe', 'query.errors', 422],
    ['system=0', 'query.system', 422],
    ['limit=0', 'query.limit', 422],
    ['limit=501', 'query.limit', 422],
    ['cursor=WyIyMDI2Il0', 'query.cursor', 400],
    ['colour=red', 'query.colour', 400],
  ])('refuses %s with a path', async (query, path, status) => {
    const res = await get(query);
    const body = res.body as { code?: string; errors?: { path: string; code: string }[] };
    expect([res.status, body.errors?.[0]?.path]).toEqual([status, path]);
    expect(body.code).toMatch(/^[a-z_]+$/);
  });

  it('does not tell strangers which hosts there are', async () => {
    for (const host of ['nowhere', 'rare-host', rareHost, busyHost])
      expect((await get(`host=${host}`, 'alice')).status).toBe(403);
  });

  it('describes its filters', () => {
    const operation = http.openApi().paths?.['/tasks']?.get as { parameters?: { name: string }[] } | undefined;
    expect(operation?.parameters?.map((p) => p.name)).toEqual(
      expect.arrayContaining([
        'state',
        'type',
        'subject',
        'subjectKind',
        'host',
        'parent',
        'createdAfter',
        'endedBefore',
        'errors',
        'system',
        'limit',
        'cursor',
      ]),
    );
  });
});
