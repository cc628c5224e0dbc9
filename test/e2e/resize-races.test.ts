import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SimulatedCloud } from '../model/simulated-cloud';
import { eventually } from '../support/eventually';

const minutes = 60_000;
const MiB = 2 ** 20;

interface OnHost {
  resizing: boolean;
  spec: { vcpus: number; memoryBytes: number };
}

describe('instances that are resized while they run', () => {
  let cloud: SimulatedCloud;
  let base: { vcpus: number; memoryBytes: number };

  beforeAll(async () => {
    cloud = await SimulatedCloud.start('sizes', {
      hosts: 2,
      keepAlive: true,
      computeEnv: { VC_STACK_MODULES__COMPUTE__RESIZE_SECONDS: '2' },
      // Guests of the second give nothing back.
      hostEnv: [{}, { VC_STACK_MODULES__COMPUTE__SIMULATED__EJECT_MS: '600000' }],
    });
    const { items } = await cloud.api.ok('GET', '/flavors');
    const small = items.find(({ name }) => name === cloud.body('x').flavor);
    base = { vcpus: small?.vcpus ?? 0, memoryBytes: small?.memoryBytes ?? 0 };
    const wide = { vcpus: base.vcpus + 2, memoryBytes: base.memoryBytes + 256 * MiB };
    await cloud.api.ok('POST', '/flavors', { name: 'wide', ...wide });
    await cloud.api.ok('POST', '/flavors', { name: 'many', ...wide, vcpus: base.vcpus + 3 });
    await cloud.api.ok('POST', '/flavors', { name: 'fewer', ...wide, vcpus: base.vcpus });
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  const make = async (name: string, host = 'sim0'): Promise<string> => {
    const most = { maxVcpus: base.vcpus + 3, maxMemoryBytes: base.memoryBytes + 512 * MiB };
    const made = await cloud.api.ok('POST', '/instances?project=default', cloud.body(name, { host, ...most }));
    expect((await cloud.settled(made.taskId)).state).toBe('succeeded');
    return made.instance.id;
  };
  const ask = (id: string, verb: 'start' | 'stop' | 'resize', body: object = {}) =>
    cloud.api.call('POST', `/instances/${id}/actions/${verb}`, body as { flavor: string });
  const resize = async (id: string, flavor: string): ReturnType<SimulatedCloud['settled']> => {
    const { status, body } = await ask(id, 'resize', { flavor });
    expect([status, body]).toEqual([202, expect.anything()]);
    return cloud.settled(body.taskId);
  };
  const read = (id: string) => cloud.api.ok('GET', `/instances/${id}`);
  const files = (id: string, host: string): { record: OnHost; machine: OnHost['spec'] } => {
    const at = join(cloud.directory, host);
    const json = (...path: string[]): unknown => JSON.parse(readFileSync(join(at, ...path), 'utf8'));
    return {
      record: json('state', 'compute', 'instances', id, 'instance.json') as OnHost,
      machine: (json('run', 'c', 'i', id, 'simulated.json') as { spec: OnHost['spec'] }).spec,
    };
  };
  /** Row, claim, record and machine have the same size. */
  const agree = async (id: string, vcpus: number, memoryBytes: number, host = 'sim0'): Promise<void> => {
    const { state, taskId, flavor } = await read(id);
    expect({ state, taskId, flavor }).toMatchObject({ state: 'running', taskId: null, flavor: { vcpus, memoryBytes } });
    const { record, machine } = files(id, host);
    expect(record).toMatchObject({ resizing: false, spec: { vcpus, memoryBytes } });
    expect(machine).toMatchObject({ vcpus, memoryBytes });
    const [claim] = await cloud.database.database.query<{ vcpus: number; memory_bytes: string }>(
      'SELECT vcpus, memory_bytes FROM host_claim WHERE instance_id = $1',
      [id],
    );
    expect({ vcpus: claim?.vcpus, memoryBytes: Number(claim?.memory_bytes) }).toEqual({ vcpus, memoryBytes });
  };

  it('keep the limits that they were started with: others are refused with the reason', async () => {
    const wide = { vcpus: base.vcpus + 2, memoryBytes: base.memoryBytes + 256 * MiB };
    await cloud.api.ok('POST', '/flavors', { name: 'slow', ...wide, limits: { disk: { iops: 100 } } });
    const id = await make('limited');
    expect(await ask(id, 'resize', { flavor: 'slow' })).toMatchObject({
      status: 409,
      body: {
        code: 'resize_needs_stop',
        detail:
          'It runs, and its disks and cards get other limits only at a start: stop it first, then resize and start it.',
      },
    });
    await agree(id, base.vcpus, base.memoryBytes);
    const stopped = await ask(id, 'stop', { force: true });
    await cloud.settled(stopped.body.taskId);
    expect((await resize(id, 'slow')).state).toBe('succeeded');
    expect((await read(id)).flavor.limits).toMatchObject({ disk: { iops: 100 }, nic: null });
    const { taskId } = await cloud.api.ok('DELETE', `/instances/${id}`);
    expect((await cloud.settled(taskId)).state).toBe('succeeded');
  });

  it(
    'get vCPUs and memory, and give vCPUs back; all agree, also after a killed agent',
    async () => {
      const id = await make('web');
      await agree(id, base.vcpus, base.memoryBytes);
      expect((await resize(id, 'wide')).state).toBe('succeeded');
      await agree(id, base.vcpus + 2, base.memoryBytes + 256 * MiB);
      expect((await resize(id, 'fewer')).state).toBe('succeeded');
      await agree(id, base.vcpus, base.memoryBytes + 256 * MiB);
      await cloud.hosts[0]?.end('SIGKILL');
      await cloud.hosts[0]?.start();
      await cloud.hostsReady();
      await agree(id, base.vcpus, base.memoryBytes + 256 * MiB);
      expect((await resize(id, 'many')).state).toBe('succeeded');
      await agree(id, base.vcpus + 3, base.memoryBytes + 256 * MiB);
      const back = await resize(id, cloud.body('x').flavor);
      expect([back.state, back.error?.code]).toEqual(['failed', 'resize_needs_stop']);
      await agree(id, base.vcpus + 3, base.memoryBytes + 256 * MiB);
    },
    3 * minutes,
  );

  it(
    'are what they were when their guest gives nothing back',
    async () => {
      const id = await make('held', 'sim1');
      expect((await resize(id, 'wide')).state).toBe('succeeded');
      const held = await resize(id, 'fewer');
      expect([held.state, held.error?.code]).toEqual(['failed', 'resize_held']);
      await agree(id, base.vcpus + 2, base.memoryBytes + 256 * MiB, 'sim1');
    },
    3 * minutes,
  );

  it(
    'stop ∥ start ∥ resize: one goes first, the others are refused and name its task; all agree at the end',
    async () => {
      const id = await make('race');
      const size = { small: cloud.body('x').flavor, wide: 'wide' };
      for (let round = 0; round < 12; round += 1) {
        const answers = await Promise.all([
          ask(id, 'stop', { force: true }),
          ask(id, 'start'),
          ask(id, 'resize', { flavor: round % 2 === 0 ? size.wide : 'fewer' }),
        ]);
        const accepted = answers.filter(({ status }) => status === 202);
        const winner = accepted[0]?.body.taskId;
        expect(accepted.length).toBe(1);
        for (const { status, body } of answers.filter((one) => one.status !== 202)) {
          const { code, task } = body as unknown as { code: string; task?: { id: string } };
          expect([409, code]).toEqual([
            status,
            expect.stringMatching(/^(task_running|instance_running|instance_stopped)$/),
          ]);
          if (code === 'task_running') expect(task?.id).toBe(winner);
        }
        await cloud.settled(winner ?? '');
        await eventually('the task lets go', async () => (await read(id)).taskId === null);
        const { state, flavor } = await read(id);
        if (state === 'running') await agree(id, flavor.vcpus, flavor.memoryBytes);
        else {
          expect(state).toBe('stopped');
          await cloud.settled((await ask(id, 'start')).body.taskId);
          await agree(id, flavor.vcpus, flavor.memoryBytes);
        }
      }
    },
    3 * minutes,
  );

  it(
    'are deleted in the midst of it, and nothing is left',
    async () => {
      const id = await make('gone', 'sim1');
      await resize(id, 'wide');
      const { body } = await ask(id, 'resize', { flavor: 'fewer' });
      const deleted = await cloud.api.ok('DELETE', `/instances/${id}`);
      expect((await cloud.settled(deleted.taskId)).state).toBe('succeeded');
      expect((await cloud.settled(body.taskId)).state).not.toBe('stuck');
      for (const name of ['web', 'held', 'race']) {
        const { taskId } = await cloud.api.ok('DELETE', `/instances/${name}?project=default`);
        expect((await cloud.settled(taskId)).state).toBe('succeeded');
      }
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    3 * minutes,
  );
});
