import { EventDispatcher } from '../../../src/core/events/event-dispatcher';
import { EventsController } from '../../../src/core/events/events.controller';
import { LiveGateway } from '../../../src/core/events/live-gateway';
import { Outbox } from '../../../src/core/events/outbox';
import { OutboxRepository } from '../../../src/core/events/outbox.repository';
import { HttpServer } from '../../../src/core/http/server/http-server';
import { RedisClients } from '../../../src/core/redis/redis-clients';
import { Channels } from '../../../src/core/auth/channels/channels';
import { Periodic } from '../../../src/core/periodic/periodic.service';
import { coreContainer, principal, projectA, projectB, testTls, type CoreForTest } from '../../support/http';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { startTestRedis, type TestRedis } from '../../support/redis';
import { waitFor } from '../../support/wait-for';
import { LiveClients } from './live-clients';

jest.setTimeout(90_000);

describe('live events', () => {
  const tls = testTls();
  let db: TestDatabase;
  let redis: TestRedis;
  let first: CoreForTest;
  let second: CoreForTest;
  const addresses: string[] = [];
  const live = new LiveClients(tls.cert, addresses);

  const startCore = async (redisUrl: string): Promise<CoreForTest> => {
    const core = coreContainer(db.database, { redisUrl });
    const http = core.container.get(HttpServer);
    http.mount([core.container.get(EventsController)]);
    await core.container.get(EventDispatcher).start();
    await core.container.get(LiveGateway).start();
    await http.start(tls);
    const periodic = core.container.get(Periodic);
    periodic.register([core.container.get(Channels)]);
    await periodic.start();
    addresses.push(http.address);
    return core;
  };
  const stopCore = async (core: CoreForTest): Promise<void> => {
    await core.container.get(Periodic).stop();
    await core.container.get(EventDispatcher).stop();
    await core.container.get(LiveGateway).stop();
    await core.container.get(HttpServer).stop();
    await core.container.get(RedisClients).close();
  };

  beforeAll(async () => {
    db = await startTestDatabase({ pool: 40 });
    redis = await startTestRedis();
    first = await startCore(redis.url);
    second = await startCore(redis.url);
  });
  afterAll(async () => {
    live.close();
    for (const core of [first, second]) if (core) await stopCore(core);
    await redis?.stop();
    await db?.close();
  });

  const publish = (n: number, over: { projectId?: string | null; kind?: string; everyone?: boolean } = {}) =>
    db.database.tx((op) =>
      first.container.get(Outbox).publish(op, {
        type: `${over.kind ?? 'instance'}.updated`,
        projectId: over.projectId === undefined ? projectA.id : over.projectId,
        ...(over.everyone !== undefined && { everyone: over.everyone }),
        subject: { kind: over.kind ?? 'instance', id: projectA.id },
        data: { n },
      }),
    );

  const read = live.read.bind(live);
  const connect = live.connect.bind(live);

  it('are in order and complete however transactions overlap', async () => {
    const seen: number[] = [];
    const unsubscribe = first.container
      .get(EventDispatcher)
      .subscribe({ events: (batch) => seen.push(...batch.map(({ event }) => event.seq)), ended: () => undefined });
    const outbox = first.container.get(Outbox);
    let left = 300;
    const worker = async (w: number): Promise<void> => {
      while (left-- > 0) {
        await db.database
          .tx(async (op) => {
            await outbox.publish(op, {
              type: 'instance.updated',
              projectId: projectA.id,
              subject: { kind: 'instance', id: projectA.id },
              data: { w },
            });
            // The lower number is held open at random, so that numbers commit in another order than they were drawn.
            await db.database.query('SELECT pg_sleep(random() * 0.02)', [], op);
            if (w === 0) throw new Error('rolled back');
          })
          .catch((e: unknown) => {
            if (w !== 0) throw e;
          });
      }
    };
    await Promise.all(Array.from({ length: 12 }, (_, w) => worker(w)));
    const rows = await db.database.query<{ seq: string }>('SELECT seq FROM outbox ORDER BY seq');
    const expected = rows.map((r) => Number(r.seq));
    await waitFor('all events', () => seen.length >= expected.length);
    expect(seen).toEqual(expected);
    unsubscribe();
  });

  it('wait for an older transaction that holds a lower number', async () => {
    const seen: number[] = [];
    const unsubscribe = first.container.get(EventDispatcher).subscribe({
      events: (batch) => seen.push(...batch.map(({ event }) => Number(event.data['n']))),
      ended: () => undefined,
    });
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    let published = (): void => undefined;
    const isPublished = new Promise<void>((resolve) => (published = resolve));
    // By hand: events of the outbox are written with the commit, and this one's commit has to be late.
    const slow = db.database.tx(async (op) => {
      await op.query(
        `INSERT INTO outbox (type, project_id, subject, data) VALUES ('instance.updated', $1, $2, '{"n": 1}')`,
        [projectA.id, JSON.stringify({ kind: 'instance', id: projectA.id })],
      );
      published();
      await gate;
    });
    await isPublished;
    await publish(2);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(seen).toEqual([]);
    release();
    await slow;
    await waitFor('both', () => seen.length === 2);
    expect(seen).toEqual([1, 2]);
    unsubscribe();
  });

  it('reach only who may read them, by Server-Sent Events', async () => {
    const [admin, alice, both, nobody, limited, onlyB, onlyTasks] = await Promise.all([
      read('admin'),
      read('alice'),
      read('both'),
      read('nobody'),
      read('limited'),
      read('both', '?project=beta'),
      read('alice', '?type=task,network.updated'),
    ]);
    await publish(1);
    await publish(2, { projectId: projectB.id });
    await publish(3, { projectId: null, kind: 'host' });
    await publish(4, { projectId: null, kind: 'flavor', everyone: true });
    await publish(5, { projectId: projectB.id, kind: 'image', everyone: true });
    await publish(6, { kind: 'network' });
    await waitFor(
      'the last',
      () =>
        admin?.events().length === 6 &&
        nobody?.events().length === 2 &&
        [alice, limited, onlyTasks, both].every((r) => r?.events().includes(6)),
    );
    expect([admin, alice, both, nobody, limited, onlyB, onlyTasks].map((r) => r?.events())).toEqual([
      [1, 2, 3, 4, 5, 6],
      [1, 4, 5, 6],
      [1, 2, 4, 5, 6],
      [4, 5],
      [6],
      [2, 5],
      [6],
    ]);
    expect((await read('wrong')).status).toBe(401);
    expect((await read('alice', '?project=beta')).status).toBe(404);
    expect((await read('alice', '?since=x')).status).toBe(400);
    expect((await read('alice', '', { 'last-event-id': 'x' })).status).toBe(400);
    expect((await read('alice', '?type=a;b')).status).toBe(422);
  });

  it('resume where a reader left, from either process, without gap or double', async () => {
    const reader = await read('alice');
    await publish(10);
    await publish(11);
    const last = await waitFor('both', () => (reader.events().length === 2 ? reader.frames.at(-1)?.id : undefined));
    reader.close();
    for (let n = 12; n < 1_200; n += 100) await Promise.all(Array.from({ length: 100 }, (_, i) => publish(n + i)));
    const again = await read('alice', '', { 'last-event-id': last }, addresses[1]);
    const bySince = await read('alice', `?since=${last}`);
    await publish(5_000);
    await waitFor('the newest', () => again.events().at(-1) === 5_000 && bySince.events().at(-1) === 5_000);
    const expected = Array.from({ length: 1_200 }, (_, i) => 12 + i);
    for (const r of [again, bySince]) {
      expect(
        r
          .events()
          .slice(0, -1)
          .sort((a, b) => a - b),
      ).toEqual(expected);
      const ids = r.frames.filter((f) => f.event === 'message').map((f) => Number(f.id));
      expect(ids).toEqual([...ids].sort((a, b) => a - b));
      expect(r.frames.some((f) => f.event === 'reset')).toBe(false);
    }
  });

  it('tell a reader that missed pruned events to load anew', async () => {
    await db.database.query(
      `UPDATE outbox SET created_at = now() - interval '25 hours' WHERE seq < (SELECT max(seq) FROM outbox)`,
    );
    await first.container.get(OutboxRepository).prune();
    expect(await db.database.query('SELECT count(*)::int AS n FROM outbox')).toEqual([{ n: 1 }]);
    expect((await read('alice', '?since=0')).frames.map((f) => f.event).slice(0, 2)).toEqual(['reset', 'message']);
  });

  it('drop a reader that does not read', async () => {
    const slow = await read('alice');
    slow.response.pause();
    const large = { text: 'x'.repeat(100_000) };
    const send = () =>
      db.database.tx((op) =>
        first.container.get(Outbox).publish(op, {
          type: 'instance.updated',
          projectId: projectA.id,
          subject: { kind: 'instance', id: projectA.id },
          data: large,
        }),
      );
    const streams = (first.container.get(EventDispatcher) as unknown as { subscribers: Set<unknown> }).subscribers;
    const before = streams.size;
    for (let i = 0; i < 200 && streams.size >= before; i++) await send();
    await waitFor('the slow reader to be dropped', () => streams.size < before);
    slow.close();
  });

  it('keep a reader that reads, however much comes at once', async () => {
    const reader = await read('alice');
    const text = 'x'.repeat(100_000);
    await db.database.tx(async (op) => {
      for (let n = 0; n < 60; n += 1)
        await first.container.get(Outbox).publish(op, {
          type: 'instance.updated',
          projectId: projectA.id,
          subject: { kind: 'instance', id: projectA.id },
          data: { n, text },
        });
    });
    await waitFor('all', () => reader.events().filter((n) => n >= 0).length === 60);
    reader.close();
  });

  it('end with a revoked credential, and follow lost memberships', async () => {
    first.authenticator.tokens.set('soon-gone', principal('soon-gone', { a: 'viewer' }));
    const stream = await read('soon-gone');
    const { socket } = await connect('soon-gone', addresses[0]);
    const disconnected = new Promise<void>((resolve) => socket.on('disconnect', () => resolve()));
    const alice = await connect('alice', addresses[0]);
    const told = new Promise<void>((resolve) => alice.socket.once('rights', () => resolve()));
    first.authenticator.tokens.set('alice', principal('alice', {}));
    first.authenticator.tokens.delete('soon-gone');
    await Promise.all([stream.ended, disconnected, told]);
    expect(stream.frames.at(-1)).toMatchObject({ event: 'end', data: { code: 'unauthenticated' } });
    await publish(77);
    const admin = await read('admin', '?since=0');
    await waitFor('the event', () => admin.events().includes(77));
    expect(alice.got.map((e) => e.data['n'])).not.toContain(77);
    first.authenticator.tokens.set('alice', principal('alice', { a: 'member' }));
  });

  it('tell a browser that comes back whether its user sees the same as before', async () => {
    const rightsOf = async (at: number): Promise<string> => {
      const { socket } = await connect('comes-and-goes', addresses[at]);
      const { rights } = await new Promise<{ rights: string }>((resolve) => socket.once('ready', resolve));
      socket.disconnect();
      return rights;
    };
    const be = (roles: Parameters<typeof principal>[1]): void => {
      for (const core of [first, second])
        core.authenticator.tokens.set('comes-and-goes', principal('comes-and-goes', roles));
    };
    be({ a: 'member', b: 'member' });
    const before = await rightsOf(0);
    expect(await rightsOf(1)).toBe(before);
    be({ b: 'viewer', a: 'member' });
    expect(await rightsOf(0)).toBe(before);
    be({ a: 'member' });
    expect(await rightsOf(0)).not.toBe(before);
  });

  it('reach browsers by socket.io once, in every process, and only their projects', async () => {
    const there = await Promise.all([
      connect('both', addresses[0]),
      connect('both', addresses[1]),
      connect('nobody', addresses[1]),
      connect('limited', addresses[0]),
      connect('admin', addresses[1]),
    ]);
    await publish(1);
    await publish(2, { projectId: projectB.id, kind: 'network' });
    await publish(3, { projectId: null, kind: 'host' });
    await publish(4, { projectId: projectB.id, kind: 'image', everyone: true });
    await publish(5, { kind: 'network' });
    await waitFor(
      'all',
      () =>
        there[4].got.length === 5 &&
        there[0].got.length === 4 &&
        there[1].got.length === 4 &&
        there[2].got.length === 1,
    );
    expect(there.map(({ got }) => got.map((e) => e.data['n']))).toEqual([
      [1, 2, 4, 5],
      [1, 2, 4, 5],
      [4],
      [5],
      [1, 2, 3, 4, 5],
    ]);
    expect(there[0].got[0]).toMatchObject({
      seq: expect.any(Number),
      type: 'instance.updated',
      at: expect.stringMatching(/Z$/),
    });
    await expect(connect('wrong', addresses[0])).rejects.toThrow('unauthenticated');
    await expect(connect('', addresses[0])).rejects.toThrow('unauthenticated');
  });

  it('resume by socket.io at either process, in order, without gap or double', async () => {
    const { socket, got } = await connect('alice', addresses[0]);
    await publish(1);
    const last = await waitFor('the first', () => got.at(-1)?.seq);
    socket.disconnect();
    for (let n = 0; n < 10; n += 1)
      await Promise.all(Array.from({ length: 100 }, (_, i) => publish(100 + n * 100 + i)));
    await publish(2, { projectId: projectB.id });
    let writing = true;
    const more = (async () => {
      for (let n = 5_000; writing; n += 1) await publish(n);
    })();
    const again = await Promise.all([connect('alice', addresses[0], last), connect('alice', addresses[1], last)]);
    await waitFor('the older ones and some new ones', () =>
      again.every((c) => Number(c.got.at(-1)?.data['n']) > 5_020),
    );
    writing = false;
    await more;
    const rows = await db.database.query<{ seq: string }>(
      'SELECT seq FROM outbox WHERE seq > $1 AND project_id = $2 ORDER BY seq',
      [last, projectA.id],
    );
    for (const { got: events } of again) {
      await waitFor('all', () => events.length === rows.length);
      expect(events.map((e) => e.seq)).toEqual(rows.map((r) => Number(r.seq)));
    }
  });

  it('end at once when the server stops, so that it need not wait for them', async () => {
    const core = await startCore('');
    const address = addresses.at(-1);
    const stream = await read('alice', '', {}, address);
    const { socket } = await connect('alice', address);
    const gone = new Promise<void>((resolve) => socket.on('disconnect', () => resolve()));
    const told = new Promise((resolve) => socket.on('end', resolve));
    await core.container.get(HttpServer).stop();
    await Promise.all([stream.ended, gone]);
    // By force there would be no word before it.
    expect(await told).toEqual({ code: 'server_stops' });
    expect(stream.frames.at(-1)).toMatchObject({ event: 'end', data: { code: 'server_stops' } });
    await stopCore(core);
  });

  it('tell a reader that has seen more than there is to load anew, and go on with what comes', async () => {
    const last = Number((await db.database.query<{ seq: string }>('SELECT max(seq) AS seq FROM outbox'))[0]?.seq);
    const reader = await read('alice', '', { 'last-event-id': String(last + 1_000_000) });
    const live = await connect('alice', addresses[1], last + 1_000_000);
    const reset = new Promise<void>((resolve) => live.socket.once('reset', () => resolve()));
    expect(reader.frames.map((f) => f.event)).toEqual(['reset', 'ready']);
    await reset;
    await publish(4_711);
    await waitFor('what comes', () => reader.events().includes(4_711) && live.got.some((e) => e.data['n'] === 4_711));
  });
});
