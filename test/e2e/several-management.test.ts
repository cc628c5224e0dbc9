import { once } from 'node:events';
import { inLanes } from '../../bench/harness/statistics';
import { Redis } from 'ioredis';
import { Agent, request } from 'undici';
import WebSocket from 'ws';
import { SeveralManagement } from '../support/several-management';
import { ManagementProcess } from '../support/management-process';
import { type EventReader } from '../support/event-reader';
import { eventually } from '../support/eventually';
import { waitFor } from '../support/wait-for';

const hosts = 3;
const burst = 30;
/** Requests at a time: the machine that tests this may be small. */
const lanes = 6;
const imageBytes = Buffer.alloc(1024 * 1024, 7);

describe.each([
  ['without Redis', false],
  ['with Redis', true],
])('three management processes on one database, %s', (_what, redis) => {
  let cloud: SeveralManagement;
  let images: string;
  /** Instances that there are. */
  let standing = burst;
  const readers: EventReader[] = [];
  const follow = async (reader: Promise<EventReader>): Promise<EventReader> => {
    const opened = await reader;
    readers.push(opened);
    return opened;
  };
  const rows = <T extends object>(sql: string, params: unknown[] = []): Promise<T[]> =>
    cloud.db.database.query<T>(sql, params);
  const create = (at: ManagementProcess, name: string, key = `key-${name}`) =>
    at.api.call(
      'POST',
      '/instances?project=default',
      { name, flavor: 'tiny', image: 'raw', networks: [{ network: 'n1' }] },
      { 'idempotency-key': key },
    );
  const tasksOver = (taskIds: string[]) =>
    eventually(
      'all tasks to be over',
      async () => {
        const found = await rows<{ state: string; n: string }>(
          `SELECT state, count(*) AS n FROM task WHERE id = ANY($1::uuid[]) GROUP BY state`,
          [taskIds],
        );
        const ended = found.filter((r) => ['succeeded', 'failed', 'cancelled', 'stuck'].includes(r.state));
        return (
          ended.reduce((sum, r) => sum + Number(r.n), 0) === taskIds.length &&
          Object.fromEntries(ended.map((r) => [r.state, Number(r.n)]))
        );
      },
      60_000,
    );

  beforeAll(async () => {
    cloud = await SeveralManagement.start({
      redis,
      hosts,
      env: { VC_STACK_MODULES__HOST__SILENT_AFTER_MS: '5000', VC_STACK_MODULES__HOST__CPU_OVERCOMMIT: '16' },
    });
  }, 120_000);

  afterAll(async () => {
    for (const reader of readers) reader.close();
    await cloud?.close();
  }, 60_000);

  it('takes at one what was begun at another: image bytes, idempotency keys, sessions', async () => {
    const [a, b, c] = [cloud.at(0), cloud.at(1), cloud.at(2)];
    imageBytes.writeUInt16LE(0xaa55, 510);
    images = (await a.api.ok('POST', '/images?project=default', { name: 'raw', format: 'raw' })).id;
    await b.api.ok('PUT', `/images/${images}/content`, imageBytes);
    const { certificate, key, root } = cloud.hostIdentity();
    const dispatcher = new Agent({
      connect: { cert: certificate, key, ca: root, checkServerIdentity: () => undefined },
    });
    for (const { nodePort } of cloud.processes) {
      const answer = await request(`https://127.0.0.1:${nodePort}/node/images/${images}/content`, { dispatcher });
      expect(answer.statusCode).toBe(200);
      expect(Buffer.from(await answer.body.arrayBuffer()).equals(imageBytes)).toBe(true);
    }
    await dispatcher.destroy();
    await c.api.ok('POST', '/flavors', { name: 'tiny', vcpus: 1, memoryBytes: 64 * 2 ** 20 });
    const network = (at: ManagementProcess) =>
      at.api.call(
        'POST',
        '/networks?project=default',
        { name: 'n1', subnet: '10.64.0.0/12' },
        { 'idempotency-key': 'the-network' },
      );
    const answers = await Promise.all([a, b, c].map(network));
    expect(answers.map((x) => x.status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map((x) => JSON.stringify(x.body))).size).toBe(1);
    expect((await rows('SELECT id FROM network')).length).toBe(1);
    // A session of one is one of all.
    for (const at of [a, b, c]) {
      for (const from of [a, b, c]) {
        const mine = at.api.token;
        at.api.token = from.api.token;
        expect((await at.api.call('GET', '/whoami')).status).toBe(200);
        at.api.token = mine;
      }
    }
  }, 60_000);

  it('shares the work of creates that are asked at each', async () => {
    const before = await Promise.all(cloud.processes.map((m) => m.counter('vcstack_tasks_ended_total')));
    const taskIds: string[] = [];
    await inLanes(burst, lanes, async (i) => {
      const started = await create(cloud.at(i % 3), `burst-${i}`);
      expect(started.status).toBe(202);
      taskIds.push(started.body.taskId);
    });
    expect(await tasksOver(taskIds)).toEqual({ succeeded: burst });
    const done = await eventually('the counters', async () => {
      const now = await Promise.all(cloud.processes.map((m) => m.counter('vcstack_tasks_ended_total')));
      const ended = now.map((n, i) => n - (before[i] ?? 0));
      return ended.reduce((sum, n) => sum + n, 0) >= burst && ended;
    });
    expect(done.filter((n) => n > 0).length).toBeGreaterThanOrEqual(2);
    expect((await rows(`SELECT id FROM instance WHERE state = 'running'`)).length).toBe(burst);
  }, 90_000);

  it('tells every client of every change, in order, whichever process either is connected to', async () => {
    const clients = await Promise.all(cloud.processes.flatMap((m) => [follow(m.sse()), follow(m.socket())]));
    const made: string[] = [];
    for (let i = 0; i < 15; i += 1) {
      made.push(
        (
          await cloud
            .at(i % 3)
            .api.ok('POST', '/networks?project=default', { name: `e${i}`, subnet: `10.100.${i}.0/24` })
        ).id,
      );
    }
    for (const client of clients) {
      const seen = () => client.events.filter((e) => e.type === 'network.created').map((e) => e.subject.id);
      await eventually('all events', () => seen().length >= made.length);
      expect(seen()).toEqual(made);
      expect(client.events.map((e) => e.seq)).toEqual(
        [...new Set(client.events.map((e) => e.seq))].sort((x, y) => x - y),
      );
    }
  }, 60_000);

  it("tells a user without any project of what is everyone's, and of nothing else", async () => {
    const [here, there] = [cloud.at(0).api, cloud.at(1)];
    await here.ok('POST', '/users', { name: 'onlooker', password: 'looks and does not touch' });
    const onlooker = new ManagementProcess(there.process, there.port, there.nodePort);
    await onlooker.api.login('onlooker', 'looks and does not touch');
    const [admin, outside] = [await follow(there.sse()), await follow(onlooker.sse())];
    const key = await here.ok('POST', '/ssh-keys?project=default', {
      name: 'laptop',
      publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMxRvQ3hM1mTIE0fmgm6S0P1qZ0l2xN7tyqjZ0zWl2bD',
    });
    const flavor = await here.ok('POST', '/flavors', {
      name: 'passing',
      vcpus: 1,
      memoryBytes: 64 * 1024 * 1024,
    });
    await here.ok('DELETE', `/ssh-keys/${key.id}`);
    await here.ok('DELETE', `/flavors/${flavor.id}`);
    const told = (reader: EventReader): string[] =>
      reader.events.filter(({ subject }) => [key.id, flavor.id].includes(subject.id)).map(({ type }) => type);
    await eventually('the last event', () =>
      [admin, outside].every((reader) => told(reader).includes('flavor.deleted')),
    );
    expect(told(admin)).toEqual(['ssh-key.created', 'flavor.created', 'ssh-key.deleted', 'flavor.deleted']);
    expect(told(outside)).toEqual(['flavor.created', 'flavor.deleted']);
  }, 60_000);

  it('opens a console with a ticket of another process, once', async () => {
    const { path } = await cloud.at(0).api.ok('POST', '/instances/burst-0/actions/console?project=default');
    const open = (at: ManagementProcess): WebSocket =>
      new WebSocket(`${at.url.replace('https', 'wss')}${path}`, { rejectUnauthorized: false });
    const socket = open(cloud.at(1));
    await once(socket, 'open');
    socket.close();
    const again = open(cloud.at(2));
    const [error] = (await once(again, 'error')) as [Error];
    expect(error.message).toContain('401');
  }, 30_000);

  /** Ten wrong passwords, wherever they come, and no more. */
  const expectLoginsCounted = async (name: string): Promise<void> => {
    const statuses: number[] = [];
    for (let i = 0; i < 12; i += 1)
      statuses.push((await cloud.at(i % 3).api.call('POST', '/login', { name, password: 'guess' })).status);
    expect(statuses.filter((s) => s === 401)).toHaveLength(10);
    expect(statuses.slice(10)).toEqual([429, 429]);
  };
  it('counts logins over all processes', () => expectLoginsCounted('nobody'), 30_000);

  /** The hosts are silent and come back: each host and instance is told of once. */
  const expectSilenceNoticedOnce = async (): Promise<void> => {
    const [{ seq } = { seq: '0' }] = await rows<{ seq: string }>('SELECT max(seq)::text AS seq FROM outbox');
    process.kill(cloud.hosts.pid, 'SIGSTOP');
    try {
      await eventually(
        'all instances unknown',
        async () => (await rows(`SELECT id FROM instance WHERE state = 'unknown'`)).length === standing,
      );
    } finally {
      process.kill(cloud.hosts.pid, 'SIGCONT');
    }
    await eventually(
      'all instances running again',
      async () => (await rows(`SELECT id FROM instance WHERE state = 'running'`)).length === standing,
    );
    await eventually(
      'all hosts ready again',
      async () => (await rows(`SELECT id FROM host WHERE state = 'ready'`)).length === hosts,
    );
    const told = await rows<{ kind: string; n: string; things: string }>(
      `SELECT subject->>'kind' AS kind, count(*)::text AS n, count(DISTINCT subject->>'id')::text AS things FROM outbox
        WHERE seq > $1 AND data->>'state' = 'unknown' AND subject->>'kind' IN ('host', 'instance') GROUP BY 1 ORDER BY 1`,
      [seq],
    );
    expect(told).toEqual([
      { kind: 'host', n: String(hosts), things: String(hosts) },
      { kind: 'instance', n: String(standing), things: String(standing) },
    ]);
  };
  it('does what management does by itself once, not three times', expectSilenceNoticedOnce, 60_000);

  const runsOf = (work: string): Promise<number[]> =>
    Promise.all(cloud.processes.map((m) => m.counter(`vcstack_periodic_runs_total{work="${work}"}`)));
  const turns = async (): Promise<number> =>
    Number(
      (await rows<{ fence: string }>(`SELECT fence FROM periodic_turn WHERE name = 'compute.reconcile-instances'`))[0]
        ?.fence ?? 0,
    );
  const expectTurnsTaken = async (): Promise<void> => {
    const begun = await turns();
    await eventually('some more turns', async () => (await turns()) >= begun + 3);
    // Runs are read first: each of them had a turn of its own.
    const all = (await runsOf('compute.reconcile-instances')).reduce((sum, n) => sum + n, 0);
    expect(all).toBeGreaterThan(0);
    expect(all).toBeLessThanOrEqual(await turns());
    expect((await runsOf('host.find-silent')).every((n) => n > 0)).toBe(true);
    expect(await Promise.all(cloud.processes.map((m) => m.counter('vcstack_periodic_failures_total')))).toEqual([
      0, 0, 0,
    ]);
  };
  it("takes turns at periodic work that is the cluster's, and each does what is its own", expectTurnsTaken, 60_000);

  /** No call of these tasks was done by two hosts, and none was undone. */
  const expectDoneOnce = (taskIds: string[]): void => {
    const journalled = [...cloud.journalled()].filter(([key]) => taskIds.includes(key.split('/')[0] ?? ''));
    expect(journalled.filter(([, where]) => where.size !== 1)).toEqual([]);
    expect(journalled.some(([key]) => key.includes('/run'))).toBe(true);
    expect(journalled.filter(([key]) => key.includes('/undo'))).toEqual([]);
  };

  if (redis)
    it('loses and doubles nothing when Redis is killed in the midst of it, and counts on when it is back', async () => {
      const taskIds: string[] = [];
      const begun = await turns();
      await eventually('turns under way', async () => (await turns()) > begun);
      const asked = inLanes(12, lanes, async (i) => {
        const { status, body } = await create(cloud.at(i % 3), `r${i}`);
        expect(status).toBe(202);
        taskIds.push(body.taskId);
      });
      await waitFor(
        'creates under way',
        async () => (await rows(`SELECT 1 FROM task WHERE state = 'running' AND type = 'instance.create'`)).length > 0,
      );
      await cloud.redis.kill();
      await asked;
      expect(await tasksOver(taskIds)).toEqual({ succeeded: 12 });
      expectDoneOnce(taskIds);
      standing += 12;
      await expectTurnsTaken();
      await expectSilenceNoticedOnce();
      await expectLoginsCounted('nobody without Redis');
      await cloud.redis.restart();
      const client = new Redis(cloud.redis.url);
      for (const [i, at] of cloud.processes.entries())
        await eventually('attempts counted in Redis by each', async () => {
          const before = await client.dbsize();
          await at.api.call('POST', '/login', { name: `nobody at ${i}`, password: 'guess' });
          return (await client.dbsize()) > before;
        });
      await expectLoginsCounted('nobody with Redis again');
      client.disconnect();
    }, 120_000);

  it('goes on when one is killed in a burst: nothing lost, nothing twice, clients and agents move on', async () => {
    const [a, b, c] = [cloud.at(0), cloud.at(1), cloud.at(2)];
    const [sse, socket, whole] = await Promise.all([follow(a.sse()), follow(a.socket()), follow(b.sse())]);
    const names = Array.from({ length: 24 }, (_, i) => `k${i}`);
    const taskIds: string[] = [];
    const asked = inLanes(names.length, lanes, async (i) => {
      const name = names[i] ?? '';
      const first = await create(cloud.at(i % 3), name).catch(() => undefined);
      // Whoever got no answer asks again elsewhere, under the same key.
      const answer =
        first?.status === 202
          ? first
          : await eventually(`an answer for ${name}`, () =>
              create(cloud.at(1 + (i % 2)), name).then(
                (x) => x.status === 202 && x,
                () => false as const,
              ),
            );
      taskIds.push(answer.body.taskId);
    });
    await eventually(
      'the burst under way',
      async () => (await rows(`SELECT 1 FROM task WHERE state = 'running' AND type = 'instance.create'`)).length > 2,
    );
    await eventually('the first events', () => sse.last > 0 && socket.last > 0);
    await a.process.end('SIGKILL');
    const [{ killed } = { killed: '' }] = await rows<{ killed: string }>('SELECT clock_timestamp()::text AS killed');
    await asked;
    expect(new Set(taskIds).size).toBe(names.length);
    expect(await tasksOver(taskIds)).toEqual({ succeeded: names.length });

    const { items } = await b.api.ok('GET', '/instances?project=default&limit=200');
    expect(
      items
        .filter((i) => i.name.startsWith('k'))
        .map((i) => `${i.name} ${i.state}`)
        .sort(),
    ).toEqual(names.map((n) => `${n} running`).sort());
    const all = standing + names.length;
    expect(
      await rows(
        'SELECT (SELECT count(*)::int FROM host_claim) AS claims, (SELECT sum(instances)::int FROM host_usage) AS used',
      ),
    ).toEqual([{ claims: all, used: all }]);
    expectDoneOnce(taskIds);

    await eventually(
      'the agents at another process',
      async () =>
        (
          await rows(
            `SELECT id FROM host WHERE last_seen_at > $1::timestamptz + interval '2 seconds' AND state = 'ready'`,
            [killed],
          )
        ).length === hosts,
    );
    expect(sse.open || socket.open).toBe(false);
    const resumed = await Promise.all([follow(b.sse(sse.last)), follow(c.socket(socket.last))]);
    for (const [index, reader] of resumed.entries()) {
      const from = index === 0 ? sse.last : socket.last;
      const expected = whole.events.filter((e) => e.seq > from && e.seq <= whole.last).map((e) => e.seq);
      const upTo = expected.at(-1) ?? 0;
      await eventually('the rest of the events', () => reader.last >= upTo);
      expect(reader.events.map((e) => e.seq).filter((seq) => seq <= upTo)).toEqual(expected);
    }

    await a.process.start();
    const extra = await create(a, 'after');
    expect(extra.status).toBe(202);
    expect(await tasksOver([extra.body.taskId])).toEqual({ succeeded: 1 });
  }, 120_000);
});
