import { eventually } from '../support/eventually';
import { SimulatedCloud } from '../model/simulated-cloud';

const minutes = 60_000;
/** Pairs of create and delete; all 1,000 with VC_STACK_TEST_CREATE_DELETES=1000. */
const pairs = Number(process.env['VC_STACK_TEST_CREATE_DELETES'] ?? 150);
/** So many at a time. */
const lanes = 2;

const percentile = (sorted: readonly number[], p: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))] ?? 0;
const summary = (times: readonly number[]): string => {
  const sorted = [...times].sort((a, b) => a - b);
  return `p50 ${percentile(sorted, 50).toFixed(0)} ms, p99 ${percentile(sorted, 99).toFixed(0)} ms, max ${percentile(sorted, 100).toFixed(0)} ms`;
};

describe('an instance that is deleted at once', () => {
  let cloud: SimulatedCloud;

  beforeAll(async () => {
    cloud = await SimulatedCloud.start('creadel', { hosts: 3, keepAlive: true });
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  it(
    `leaves nothing behind, ${pairs} times over`,
    async () => {
      const reactions: number[] = [];
      const gone: number[] = [];
      const ends: Record<string, number> = {};
      let next = 0;
      const lane = async (): Promise<void> => {
        for (let i = next++; i < pairs; i = next++) {
          const created = await cloud.api.ok('POST', '/instances?project=default', cloud.body(`pair-${i}`));
          // At different moments of the create: at once, or some milliseconds into it.
          if (i % 3 > 0) await new Promise((resolve) => setTimeout(resolve, (i * 37) % 400));
          const deleted = await cloud.api.ok('DELETE', `/instances/${created.instance.id}`);
          const answered = performance.now();
          expect(deleted.instance.state).toBe('deleting');
          const create = await cloud.api.ok('GET', `/tasks/${created.taskId}?wait=30s`);
          reactions.push(performance.now() - answered);
          const remove = await cloud.settled(deleted.taskId);
          gone.push(performance.now() - answered);
          ends[create.state] = (ends[create.state] ?? 0) + 1;
          expect(['cancelled', 'succeeded']).toContain(create.state);
          expect(remove.state).toBe('succeeded');
          expect((await cloud.api.call('GET', `/instances/${created.instance.id}`)).status).toBe(404);
        }
      };
      await Promise.all(Array.from({ length: lanes }, lane));
      console.log(
        `delete at once, ${pairs} times, ${lanes} at a time: creates ended ${JSON.stringify(ends)}; from the DELETE's answer to the end of the create: ${summary(reactions)}; to the instance gone: ${summary(gone)}`,
      );
      expect(await cloud.nothingLeft()).toEqual([]);
      const { items: hosts } = await cloud.api.ok('GET', '/hosts');
      for (const host of hosts)
        expect(host.capacity).toMatchObject({ vcpusUsed: 0, memoryBytesUsed: 0, diskBytesUsed: 0, instances: 0 });
      const { items: networks } = await cloud.api.ok('GET', '/networks');
      expect(networks.map((n) => n.addresses.used)).toEqual([0]);
    },
    20 * minutes,
  );

  it(
    'is deleted although its host is dead, which removes the rest once it is back',
    async () => {
      const created = await cloud.api.ok('POST', '/instances?project=default', cloud.body('left-alone'));
      expect((await cloud.settled(created.taskId)).state).toBe('succeeded');
      const { host } = await cloud.api.ok('GET', `/instances/${created.instance.id}`);
      const agent = cloud.hosts[Number(host?.name.replace('sim', ''))];
      await agent?.end('SIGKILL');
      const deleted = await cloud.api.ok('DELETE', `/instances/${created.instance.id}`);
      expect((await cloud.settled(deleted.taskId)).state).toBe('succeeded');
      expect((await cloud.leftovers()).some((line) => line.startsWith('tombstone'))).toBe(true);
      await agent?.start();
      // Its network document follows once it had its time to arrive by itself.
      await eventually('the rest removed', async () => (await cloud.leftovers()).length === 0, 60_000);
    },
    3 * minutes,
  );

  it(
    'is deleted although its host knows more of it than a restored database',
    async () => {
      const { instance, taskId } = await cloud.api.ok('POST', '/instances?project=default', cloud.body('old'));
      expect((await cloud.settled(taskId)).state).toBe('succeeded');
      const stop = await cloud.api.ok('POST', `/instances/${instance.id}/actions/stop`, { force: true });
      expect((await cloud.settled(stop.taskId)).state).toBe('succeeded');
      await cloud.database.database.query('UPDATE instance SET generation = 1 WHERE id = $1', [instance.id]);
      const deleted = await cloud.api.ok('DELETE', `/instances/${instance.id}`);
      expect((await cloud.settled(deleted.taskId)).state).toBe('succeeded');
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    2 * minutes,
  );

  it(
    'goes its way once its deletion has begun, and is never given back in parts',
    async () => {
      const { instance, taskId } = await cloud.api.ok('POST', '/instances?project=default', cloud.body('web'));
      expect((await cloud.settled(taskId)).state).toBe('succeeded');
      const { host } = await cloud.api.ok('GET', `/instances/${instance.id}`);
      const agent = cloud.hosts[Number(host?.name.replace('sim', ''))];
      agent?.signal('SIGSTOP');
      try {
        const deleted = await cloud.api.ok('DELETE', `/instances/${instance.id}`);
        const begun = await eventually('the deletion at work', async () => {
          const task = await cloud.api.ok('GET', `/tasks/${deleted.taskId}`);
          return task.step === 'remove-vmm' && task;
        });
        expect(begun.irrevocable).toBe('what is deleted does not come back');
        expect(await cloud.api.call('POST', `/tasks/${deleted.taskId}/actions/cancel`)).toMatchObject({
          status: 409,
          body: {
            code: 'task_irrevocable',
            detail: "The task can't be cancelled any more: what is deleted does not come back.",
          },
        });
        // As if its host had been silent until the task's time was over: whoever takes the task over finds it so.
        await cloud.database.database.query('UPDATE task SET deadline = clock_timestamp() WHERE id = $1', [
          deleted.taskId,
        ]);
        await cloud.restartManagement();
        await cloud.login();
        expect((await cloud.settled(deleted.taskId)).state).toBe('failed');
      } finally {
        agent?.signal('SIGCONT');
      }
      const left = await cloud.api.ok('GET', `/instances/${instance.id}`);
      expect([left.state, left.stateReason]).toEqual([
        'error',
        'deleting it failed: The task did not end within its time.',
      ]);
      await cloud.hostsReady();
      for (const verb of ['start', 'reboot', 'stop'] as const)
        expect(await cloud.api.call('POST', `/instances/${instance.id}/actions/${verb}`)).toMatchObject({
          status: 409,
          body: { code: 'deletion_begun' },
        });
      const again = await cloud.api.ok('DELETE', `/instances/${instance.id}`);
      expect((await cloud.settled(again.taskId)).state).toBe('succeeded');
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    3 * minutes,
  );
});
