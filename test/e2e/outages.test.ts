import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { TestCloud } from '../support/cloud';
import { eventually } from '../support/eventually';
import { SimulatedCloud } from '../model/simulated-cloud';

const minutes = 60_000;
const at = (seconds: number): Promise<void> => delay(seconds * 1000);

describe('outages of what judges, not of what is judged', () => {
  let cloud: SimulatedCloud;

  beforeAll(async () => {
    // The times of a real installation: an outage is long or short beside them.
    cloud = await SimulatedCloud.start('outages', {
      hosts: 3,
      proxied: true,
      managementEnv: { VC_STACK_MODULES__HOST__SILENT_AFTER_MS: '15000' },
      computeEnv: { VC_STACK_M2M__HEARTBEAT_MS: '5000' },
    });
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  const create = async (count: number, name: string): Promise<string[]> =>
    (
      await Promise.all(
        Array.from({ length: count }, (_, i) =>
          cloud.api.ok('POST', '/instances?project=default', cloud.body(`${name}-${i}`)),
        ),
      )
    ).map(({ taskId }) => taskId);
  /** Hosts that were called silent at any time. */
  const misjudged = (): Promise<unknown[]> =>
    cloud.database.database.query(
      `SELECT subject->>'name' AS host FROM outbox WHERE type = 'host.updated' AND data->>'state' = 'unknown'`,
    );

  it(
    'the database away for 45 s: what was accepted is done, and no host is called silent',
    async () => {
      const tasks = await create(6, 'db');
      cloud.proxy?.cut();
      await at(45);
      expect((await cloud.api.call('GET', '/hosts')).status).toBe(503);
      cloud.proxy?.restore();
      for (const task of tasks) expect(await cloud.settled(task)).toMatchObject({ state: 'succeeded' });
      const more = await create(2, 'db-after');
      for (const task of more) expect(await cloud.settled(task)).toMatchObject({ state: 'succeeded' });
      expect(await misjudged()).toEqual([]);
    },
    4 * minutes,
  );

  it(
    'management frozen for 25 s: what was accepted is done, and no host is called silent',
    async () => {
      const tasks = await create(6, 'frozen');
      cloud.management.signal('SIGSTOP');
      await at(25);
      cloud.management.signal('SIGCONT');
      const more = await create(2, 'frozen-after');
      for (const task of [...tasks, ...more]) expect(await cloud.settled(task)).toMatchObject({ state: 'succeeded' });
      expect(await misjudged()).toEqual([]);
    },
    4 * minutes,
  );

  it(
    'a host that is really silent is still found',
    async () => {
      cloud.hosts[0]?.signal('SIGSTOP');
      const silent = await eventually(
        'the silent host',
        async () => (await cloud.api.ok('GET', '/hosts')).items.find((host) => host.state === 'unknown'),
        60_000,
      );
      expect(silent.name).toBe('sim0');
      cloud.hosts[0]?.signal('SIGCONT');
      await cloud.hostsReady();
      expect(await misjudged()).toHaveLength(1);
    },
    3 * minutes,
  );
});

describe('the embedded PostgreSQL', () => {
  let cloud: TestCloud;

  beforeAll(async () => {
    cloud = await TestCloud.start('pgkill', { hosts: [] });
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  /** Undefined while there is none. */
  const postmaster = (): number | undefined => {
    try {
      return (
        Number(
          readFileSync(
            join(cloud.directory, 'management', 'state', 'postgres', 'data', 'postmaster.pid'),
            'utf8',
          ).split('\n')[0],
        ) || undefined
      );
    } catch {
      return undefined;
    }
  };
  const health = async (): Promise<{
    status: number;
    checks: Record<string, { status: string; message?: string }>;
  }> => {
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
    try {
      const answer = await request(`${cloud.api.url}/health/deep`, { dispatcher });
      return {
        status: answer.statusCode,
        checks: ((await answer.body.json()) as { checks: Record<string, { status: string }> }).checks,
      };
    } finally {
      await dispatcher.close();
    }
  };

  it(
    'is started again when it is killed, and nothing that was stored is lost',
    async () => {
      await cloud.api.ok('POST', '/flavors', { name: 'kept', vcpus: 1, memoryBytes: 2 ** 26 });
      for (let i = 0; i < 2; i += 1) {
        const before = postmaster();
        if (before === undefined) throw new Error('no server');
        process.kill(before, 'SIGKILL');
        const names = await eventually('an answer from another server', async () => {
          // A backend of before may answer once more.
          if ([before, undefined].includes(postmaster())) return false;
          const { status, body } = await cloud.api.call('GET', '/flavors');
          return status === 200 && body.items.map(({ name }) => name);
        });
        expect(names).toEqual(['kept']);
        // The server takes clients a moment before its start is over, and until then it counts as one that is being
        // started.
        const checks = await eventually('health', async () => {
          const { status, checks } = await health();
          return status === 200 && checks;
        });
        expect(checks).toMatchObject({
          'embedded-postgres': { status: 'healthy' },
          schema: { status: 'healthy', message: expect.stringMatching(/^build 0\.1\.0, schema \S+\d{13}$/) },
        });
      }
    },
    2 * minutes,
  );
});
