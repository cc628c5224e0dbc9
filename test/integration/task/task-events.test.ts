import supertest from 'supertest';
import { z } from 'zod';
import { EventDetails } from '../../../src/core/events/event-details';
import { EventDispatcher } from '../../../src/core/events/event-dispatcher';
import { EventsController } from '../../../src/core/events/events.controller';
import type { LiveEventRecord } from '../../../src/core/events/live-event-record';
import { LiveGateway } from '../../../src/core/events/live-gateway';
import { Outbox } from '../../../src/core/events/outbox';
import { HttpServer } from '../../../src/core/http/server/http-server';
import { defineWorkflow } from '../../../src/core/workflow/definition/definition';
import { PermanentError } from '../../../src/core/workflow/definition/workflow-error';
import { TaskOperations } from '../../../src/core/workflow/request/task-operations';
import { Workflows } from '../../../src/core/workflow/request/workflows';
import { Hosts } from '../../../src/modules/host/contract/host.ports';
import type { TaskDetail } from '../../../src/modules/task/contract/task.api';
import { TaskController } from '../../../src/modules/task/management/task.controller';
import { TaskEventDetails } from '../../../src/modules/task/management/task-event-details';
import { TaskListRepository } from '../../../src/modules/task/management/task-list.repository';
import { TaskRepository } from '../../../src/modules/task/management/task.repository';
import { TaskService } from '../../../src/modules/task/management/task.service';
import { FakeNodes } from '../../support/fake-nodes';
import { coreContainer, principal, projectA, testTls } from '../../support/http';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import type { TestEngine } from '../../support/test-engine';
import { waitFor } from '../../support/wait-for';
import { dropThing, hostA, makeThing, newEngine, subject } from '../../support/workflow-harness';
import { LiveClients } from '../http/live-clients';
import { NamedHosts } from './named-hosts';

jest.setTimeout(60_000);

/** Whoever may see the task, each with what it is told: tenants and admins by session, an admin by tokens of two lists. */
const viewers = ['alice', 'admin', 'tasks-only', 'tasks-and-hosts'] as const;

describe('the event of a failure', () => {
  let db: TestDatabase;
  let engine: TestEngine;
  let http: HttpServer;
  let stop: () => Promise<void>;
  let live: LiveClients;
  let agent: ReturnType<typeof supertest>;
  let why: () => Error;

  const definition = defineWorkflow('test.fail', { version: 1, input: z.object({}), deadline: '10m' })
    .remote('make', {
      title: 'Make the thing',
      verb: makeThing,
      node: () => hostA,
      args: () => ({ name: 'x' }),
      undo: { verb: dropThing, node: () => hostA, args: () => ({ name: 'x' }) },
    })
    .tx('finish', {
      run: async () => {
        throw why();
      },
      noUndo: 'nothing',
    });

  beforeAll(async () => {
    db = await startTestDatabase();
    const nodes = new FakeNodes();
    nodes.on('thing.make', () => ({ done: true, result: { made: 'x' } }));
    const { container, authenticator } = coreContainer(db.database);
    const token = (name: string, tokenScopes: string[]): void =>
      void authenticator.tokens.set(
        name,
        principal(name, {}, { systemRoles: ['admin'], via: 'api-token', tokenScopes }),
      );
    token('tasks-only', ['task:read']);
    token('tasks-and-hosts', ['task:read', 'host:read']);
    engine = newEngine(db.database, [definition], { nodes, outbox: container.get(Outbox) });
    container.bind(Workflows).toConstantValue(engine.workflows);
    container.bind(TaskOperations).toConstantValue(engine.operations);
    container.bind(Hosts).toConstantValue(new NamedHosts());
    for (const one of [TaskController, TaskListRepository, TaskRepository, TaskService])
      container.bind<object>(one).toSelf().inSingletonScope();
    container.bind(EventDetails).to(TaskEventDetails).inSingletonScope();
    http = container.get(HttpServer);
    http.mount([container.get(TaskController), container.get(EventsController)], []);
    const [dispatcher, gateway] = [container.get(EventDispatcher), container.get(LiveGateway)];
    await dispatcher.start();
    await gateway.start();
    const tls = testTls();
    await http.start(tls);
    stop = async () => {
      await dispatcher.stop();
      await gateway.stop();
      await http.stop();
    };
    live = new LiveClients(tls.cert, [http.address]);
    agent = supertest.agent(http.address, { ca: tls.cert }) as unknown as ReturnType<typeof supertest>;
    await engine.start();
  });
  afterAll(async () => {
    live?.close();
    await stop?.();
    await engine?.stop();
    await db?.close();
  });

  const failed = async (error: () => Error): Promise<string> => {
    why = error;
    const { id } = await db.database.tx((op) =>
      engine.start(
        op,
        definition,
        {},
        {
          projectId: projectA.id,
          createdBy: 'someone',
          requestId: 'req-1',
          subject: subject(),
        },
      ),
    );
    return id;
  };
  const rest = async (id: string, token: string): Promise<TaskDetail['error']> =>
    ((await agent.get(`/api/v1/tasks/${id}?wait=10s`).set('authorization', `Bearer ${token}`)).body as TaskDetail)
      .error;
  const endOf = (id: string, events: readonly LiveEventRecord[]): LiveEventRecord | undefined =>
    events.find(({ subject: { id: of }, data }) => of === id && data['state'] === 'failed');

  it('tells each viewer what REST tells it, live and afterwards, by both ways', async () => {
    const open = await Promise.all(
      viewers.map(async (name) => ({ sse: await live.read(name), socket: await live.connect(name, http.address) })),
    );
    const id = await failed(() => new PermanentError('no_luck', 'It did not work out.', {}, 'secret internals'));
    const told = await Promise.all(
      open.map(({ sse, socket }) =>
        Promise.all([
          waitFor('the end, by Server-Sent Events', () =>
            endOf(id, sse.frames.map(({ data }) => data).filter(isEvent)),
          ),
          waitFor('the end, by socket.io', () => endOf(id, socket.got)),
        ]),
      ),
    );
    const again = await Promise.all(
      viewers.map(async (name) => {
        const [sse, socket] = await Promise.all([live.read(name, '?since=0'), live.connect(name, http.address, 0)]);
        return [
          await waitFor('what was, by Server-Sent Events', () =>
            endOf(id, sse.frames.map(({ data }) => data).filter(isEvent)),
          ),
          await waitFor('what was, by socket.io', () => endOf(id, socket.got)),
        ];
      }),
    );
    for (const [at, name] of viewers.entries()) {
      const expected = await rest(id, name);
      expect(expected?.undoneSteps).toHaveLength(1);
      for (const event of [...(told[at] ?? []), ...(again[at] ?? [])]) expect(event.data['error']).toEqual(expected);
      const operator = name === 'admin' || name === 'tasks-and-hosts';
      expect(expected?.reason).toBe(`It did not work out.${operator ? ' (secret internals)' : ''}`);
      expect(expected?.undoneSteps[0]?.host).toBe(operator ? 'alpha-host' : null);
    }
  });

  it('is of a bounded size, whatever a host said', async () => {
    const sse = await live.read('admin');
    const id = await failed(() => new PermanentError('no_luck', '💥'.repeat(20_000), {}, 'x'.repeat(20_000)));
    const event = await waitFor('the end', () => endOf(id, sse.frames.map(({ data }) => data).filter(isEvent)));
    expect(JSON.stringify(event).length).toBeLessThan(30_000);
    expect((event.data['error'] as { reason: string }).reason).toMatch(/^💥.*…$/u);
    expect((await rest(id, 'admin'))?.reason.length).toBeGreaterThan(20_000);
  });

  it('is told as it was stored when its task is nowhere any more', async () => {
    const id = await failed(() => new PermanentError('no_luck', 'It did not work out.'));
    await rest(id, 'alice');
    await db.database.query('DELETE FROM task_archive WHERE id = $1', [id]);
    await db.database.query('DELETE FROM task WHERE id = $1', [id]);
    const sse = await live.read('alice', '?since=0');
    const event = await waitFor('the end', () => endOf(id, sse.frames.map(({ data }) => data).filter(isEvent)));
    expect(event.data['error']).toMatchObject({ code: 'no_luck', message: 'It did not work out.' });
  });
});

const isEvent = (data: LiveEventRecord): boolean => typeof data.type === 'string';
