import { randomUUID } from 'node:crypto';
import type { Instance } from '../../src/modules/compute/contract/compute.api';
import { ApiClient, type Answer } from '../support/api-client';
import { eventually } from '../support/eventually';
import { SimulatedCloud } from '../model/simulated-cloud';

const minutes = 60_000;

interface Accepted {
  instance: Instance;
  taskId: string;
  code?: string;
}

describe('Idempotency-Key when things break', () => {
  let cloud: SimulatedCloud;

  beforeAll(async () => {
    cloud = await SimulatedCloud.start('idem', { proxied: true });
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);
  afterEach(async () => {
    cloud.proxy?.restore();
    const { items } = await cloud.api.ok('GET', '/instances?project=default&limit=100');
    for (const { id } of items) {
      const { status, body } = await cloud.api.call('DELETE', `/instances/${id}`);
      if (status === 202) await cloud.settled(body.taskId);
    }
    expect(await cloud.nothingLeft()).toEqual([]);
  }, 2 * minutes);

  const post = (name: string, key: string, client: ApiClient = cloud.api): Promise<Answer<Accepted>> =>
    client.call('POST', '/instances?project=default', cloud.body(name), { 'idempotency-key': key });
  const instances = async (): Promise<Instance[]> =>
    (await cloud.api.ok('GET', '/instances?project=default&limit=100')).items;
  /** Management says that it has its database again. */
  const again = (): Promise<boolean> =>
    eventually('the database again', async () => (await cloud.api.call('GET', '/whoami')).status === 200);

  it(
    'makes one instance of fifty equal requests in parallel, although management is killed among them',
    async () => {
      const key = randomUUID();
      const first = Promise.all(Array.from({ length: 50 }, () => post('one-of-fifty', key).catch(() => undefined)));
      // In the middle: the first ones have their answer, or the change is made and nobody has been told.
      await eventually(
        'the first request in the database',
        async () => (await cloud.database.database.query('SELECT 1 FROM instance LIMIT 1')).length > 0,
        20_000,
      );
      await cloud.restartManagement();
      const heard = (await first).filter((answer) => answer !== undefined);
      const repeated = await Promise.all(Array.from({ length: 50 }, () => post('one-of-fifty', key)));
      const answers = [...heard, ...repeated];
      expect(new Set(answers.map((a) => a.status))).toEqual(new Set([202]));
      expect(new Set(answers.map((a) => JSON.stringify(a.body))).size).toBe(1);
      expect(repeated.every((a) => a.headers['idempotency-replayed'] === 'true')).toBe(true);
      expect((await instances()).map((i) => i.name)).toEqual(['one-of-fifty']);
      expect((await cloud.settled(answers[0]?.body.taskId ?? '')).state).toBe('succeeded');
    },
    3 * minutes,
  );

  it(
    'takes the key again when the database went away under the request',
    async () => {
      const key = randomUUID();
      // Holds the request in the middle of its transaction.
      const held = cloud.database.database.tx(async (op) => {
        await op.query('LOCK TABLE instance IN ACCESS EXCLUSIVE MODE');
        const pending = post('cut-off', key);
        await eventually(
          'the request at the lock',
          async () =>
            (
              await cloud.database.database.query(
                `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%instance%'`,
              )
            ).length > 0,
        );
        cloud.proxy?.cut();
        return pending;
      });
      const failed = await held;
      expect(failed).toMatchObject({ status: 503, body: { code: 'database_unavailable' } });
      expect(await post('cut-off', key)).toMatchObject({ status: 503 });
      cloud.proxy?.restore();
      await again();
      const made = await post('cut-off', key);
      expect(made.status).toBe(202);
      expect(made.headers['idempotency-replayed']).toBeUndefined();
      expect((await post('cut-off', key)).body).toEqual(made.body);
      expect((await instances()).map((i) => i.id)).toEqual([made.body.instance.id]);
    },
    3 * minutes,
  );

  it(
    'gives the first answer when the commit came through and its answer did not',
    async () => {
      const key = randomUUID();
      const lost = cloud.proxy?.loseCommitAfter(key);
      const unheard = await post('committed', key);
      await lost;
      expect(unheard.status).toBe(503);
      await again();
      const [made] = await instances();
      expect(made?.name).toBe('committed');
      const repeated = await post('committed', key);
      expect(repeated).toMatchObject({
        status: 202,
        headers: { 'idempotency-replayed': 'true' },
        body: { instance: { id: made?.id } },
      });
      expect(await instances()).toHaveLength(1);
    },
    3 * minutes,
  );

  it(
    'does not keep a refusal: once its cause is gone, the same key makes it',
    async () => {
      const [key, other] = [randomUUID(), randomUUID()];
      const holder = await post('in-the-way', other);
      const refused = await post('in-the-way', key);
      expect(refused).toMatchObject({ status: 409, body: { code: 'name_taken' } });
      await cloud.settled((await cloud.api.ok('DELETE', `/instances/${holder.body.instance.id}`)).taskId);
      const made = await post('in-the-way', key);
      expect(made.status).toBe(202);
      expect(made.body.instance.id).not.toBe(holder.body.instance.id);
      expect(
        await cloud.api.call('POST', '/instances?project=default', cloud.body('another'), { 'idempotency-key': key }),
      ).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
    },
    3 * minutes,
  );

  it(
    'answers as at first after the object was deleted, and makes nothing',
    async () => {
      const key = randomUUID();
      const made = await post('short', key);
      await cloud.settled((await cloud.api.ok('DELETE', `/instances/${made.body.instance.id}`)).taskId);
      const repeated = await post('short', key);
      expect(repeated).toMatchObject({ status: 202, headers: { 'idempotency-replayed': 'true' } });
      expect(repeated.body).toEqual(made.body);
      expect(await instances()).toEqual([]);
    },
    3 * minutes,
  );

  it(
    'is each principal its own',
    async () => {
      const password = 'a long enough password';
      const user = await cloud.api.ok('POST', '/users', { name: 'second', password });
      const { items } = await cloud.api.ok('GET', '/projects');
      await cloud.api.ok('PUT', `/projects/${items.find((p) => p.name === 'default')?.id ?? ''}/members/${user.id}`, {
        role: 'member',
      });
      const second = new ApiClient(cloud.api.url);
      try {
        await second.login('second', password);
        const key = randomUUID();
        const mine = await post('mine', key);
        const theirs = await post('theirs', key, second);
        expect([mine.status, theirs.status]).toEqual([202, 202]);
        expect(theirs.body.instance.id).not.toBe(mine.body.instance.id);
        expect((await post('theirs', key, second)).body).toEqual(theirs.body);
      } finally {
        await second.close();
      }
    },
    3 * minutes,
  );
});
