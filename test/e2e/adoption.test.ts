import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { processStartTime } from '../../src/core/host/processes/process-identity';
import type { Instance } from '../../src/modules/compute/contract/compute.api';
import { TestCloud } from '../support/cloud';

const minutes = 60_000;
/** Guests of one host. All twenty with VC_STACK_TEST_LONG=1 (`bin/check --long`). */
const count = process.env['VC_STACK_TEST_LONG'] === '1' ? 20 : 6;
const deaths = 3;

interface Process {
  pid: number;
  startTime: string;
}

describe(`the ${count} guests of an agent that dies again and again`, () => {
  let cloud: TestCloud;

  beforeAll(async () => {
    cloud = await TestCloud.start('adopt', { managementEnv: { VC_STACK_MODULES__HOST__CPU_OVERCOMMIT: '64' } });
    await cloud.furnish();
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  const instances = async (): Promise<Instance[]> =>
    (await cloud.api.ok('GET', '/instances?sort=name&limit=100')).items;
  const processOf = ({ id }: Instance): Process =>
    (
      JSON.parse(readFileSync(join(cloud.stateOf('h1'), 'instances', id, 'instance.json'), 'utf8')) as {
        handle: { process: Process };
      }
    ).handle.process;
  /** Seconds since its guest came up, as that says itself on its console. */
  const uptime = async ({ id }: Instance, round: number): Promise<number> => {
    const screen = await cloud.console(id);
    try {
      const [, seconds = ''] = await screen.ask(
        `echo "round ${round}: up $(cut -d. -f1 /proc/uptime) s"`,
        new RegExp(`round ${round}: up (\\d+) s`),
        4 * minutes,
      );
      return Number(seconds);
    } finally {
      screen.close();
    }
  };

  it(
    'never notice: their VMMs and uptimes go on, and so do their consoles',
    async () => {
      const made = await cloud.api.ok('POST', '/instances/batch?project=default', {
        name: 'guest',
        count,
        flavor: 'tiny',
        image: 'linux',
        networks: [{ network: 'n1' }],
      });
      await cloud.settled(made.taskId, 'succeeded', 10 * minutes);
      const before = await instances();
      expect(before.map(({ state }) => state)).toEqual(before.map(() => 'running'));
      const processes = before.map(processOf);
      let uptimes: number[] = [];
      for (const instance of before) uptimes.push(await uptime(instance, 0));

      for (let round = 1; round <= deaths; round += 1) {
        await cloud.host('h1').end('SIGKILL');
        for (const { pid, startTime } of processes) expect(processStartTime(pid)).toBe(startTime);
        await cloud.host('h1').start();
        await cloud.hostState('h1', 'ready');
        expect((await instances()).map(({ state, startedAt }) => ({ state, startedAt }))).toEqual(
          before.map(({ startedAt }) => ({ state: 'running', startedAt })),
        );
        expect(before.map(processOf)).toEqual(processes);
        const now: number[] = [];
        for (const instance of before) now.push(await uptime(instance, round));
        expect(now.filter((seconds, index) => seconds <= (uptimes[index] ?? 0))).toEqual([]);
        uptimes = now;
      }
    },
    30 * minutes,
  );

  it(
    'are deleted by the agent that adopted them, and leave nothing',
    async () => {
      const tasks = await Promise.all(
        (await instances()).map(async ({ id }) => (await cloud.api.ok('DELETE', `/instances/${id}`)).taskId),
      );
      for (const task of tasks) await cloud.settled(task, 'succeeded', 3 * minutes);
      expect(cloud.leftovers()).toEqual([]);
    },
    5 * minutes,
  );
});
