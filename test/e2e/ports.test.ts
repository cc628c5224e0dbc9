import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Instance } from '../../src/modules/compute/contract/compute.api';
import { SimulatedCloud } from '../model/simulated-cloud';
import type { Answer } from '../support/api-client';
import { eventually } from '../support/eventually';

const minutes = 60_000;

/** What a host has on record of an instance, as far as it is about cards. */
interface OnHost {
  spec: { ports: string[] };
  leaving: string[];
}

describe('ports that come and go', () => {
  let cloud: SimulatedCloud;
  let other: string;

  beforeAll(async () => {
    cloud = await SimulatedCloud.start('ports', {
      hosts: 2,
      keepAlive: true,
      computeEnv: { VC_STACK_MODULES__COMPUTE__DETACH_SECONDS: '2' },
      // Guests of the second never let a device go.
      hostEnv: [{}, { VC_STACK_MODULES__COMPUTE__SIMULATED__EJECT_MS: '600000' }],
    });
    await cloud.api.ok('POST', '/networks?project=default', { name: 'n2', subnet: '10.65.0.0/29', nat: false });
    await cloud.api.ok('POST', '/projects', { name: 'other' });
    other = (await cloud.api.ok('POST', '/networks?project=other', { name: 'theirs', subnet: '10.66.0.0/24' })).id;
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  const read = (id: string): Promise<Instance> => cloud.api.ok('GET', `/instances/${id}`);
  const make = async (name: string, host = 'sim0'): Promise<Instance> => {
    const made = await cloud.api.ok('POST', '/instances?project=default', cloud.body(name, { host }));
    expect((await cloud.settled(made.taskId)).state).toBe('succeeded');
    return read(made.instance.id);
  };
  const onHost = (id: string, host = 'sim0'): OnHost =>
    JSON.parse(
      readFileSync(join(cloud.directory, host, 'state', 'compute', 'instances', id, 'instance.json'), 'utf8'),
    ) as OnHost;
  /** The cards of the simulated machine, which has a file instead of a process. */
  const inMachine = (id: string): string[] =>
    (
      JSON.parse(readFileSync(join(cloud.directory, 'sim0', 'run', 'c', 'i', id, 'simulated.json'), 'utf8')) as {
        spec: { nics: { id: string }[] };
      }
    ).spec.nics.map((nic) => nic.id);
  const inDocument = (host = 'sim0'): string[] =>
    (
      JSON.parse(readFileSync(join(cloud.directory, host, 'state', 'compute', 'network', 'document.json'), 'utf8')) as {
        networks: { ports: { id: string }[] }[];
      }
    ).networks.flatMap(({ ports }) => ports.map(({ id }) => id));
  const attach = async (id: string, body: { network: string; address?: string }): Promise<string> => {
    const asked = await cloud.api.ok('POST', `/instances/${id}/ports`, body);
    expect(await cloud.settled(asked.taskId)).toMatchObject({ state: 'succeeded' });
    return asked.portId;
  };
  const detach = async (id: string, port: string): ReturnType<SimulatedCloud['settled']> =>
    cloud.settled((await cloud.api.ok('DELETE', `/instances/${id}/ports/${port}`)).taskId);
  const act = async (id: string, verb: 'start' | 'stop' | 'pause' | 'resume' | 'reboot', body = {}): Promise<void> => {
    const asked = await cloud.api.ok('POST', `/instances/${id}/actions/${verb}`, body);
    expect((await cloud.settled(asked.taskId)).state).toBe('succeeded');
  };
  const remove = async (id: string): Promise<void> => {
    const { taskId } = await cloud.api.ok('DELETE', `/instances/${id}`);
    expect((await cloud.settled(taskId)).state).toBe('succeeded');
  };

  it(
    'attaches and detaches while it runs; management, host and machine agree, over starts and a killed agent',
    async () => {
      const { id, ports, startedAt } = await make('web');
      const first = ports[0]?.id ?? '';
      const second = await attach(id, { network: 'n2' });
      const third = await attach(id, { network: 'n2', address: '10.65.0.5' });
      expect(await read(id)).toMatchObject({
        state: 'running',
        stateReason: '',
        taskId: null,
        startedAt,
        ports: [
          { id: first },
          { id: second, network: 'n2', address: '10.65.0.2' },
          { id: third, address: '10.65.0.5' },
        ],
      });
      expect(
        (await cloud.api.ok('GET', `/ports?instance=${id}`)).items.map((p) => [p.position, p.state]).sort(),
      ).toEqual([
        [0, 'active'],
        [1, 'active'],
        [2, 'active'],
      ]);
      const agree = async (wanted: string[]): Promise<void> => {
        expect((await read(id)).ports.map((port) => port.id)).toEqual(wanted);
        expect(onHost(id)).toMatchObject({ spec: { ports: wanted }, leaving: [] });
        expect(inMachine(id).sort()).toEqual([...wanted].sort());
        expect(inDocument().sort()).toEqual([...wanted].sort());
      };
      await agree([first, second, third]);

      expect((await detach(id, second)).state).toBe('succeeded');
      await agree([first, third]);
      // One that it was made with goes too, and its place is not taken by the next.
      expect((await detach(id, first)).state).toBe('succeeded');
      const fourth = await attach(id, { network: 'n1' });
      await agree([third, fourth]);

      await cloud.hosts[0]?.end('SIGKILL');
      await cloud.hosts[0]?.start();
      await cloud.hostsReady();
      await agree([third, fourth]);
      await act(id, 'stop', { force: true });
      await act(id, 'start');
      await agree([third, fourth]);
      expect(await read(id)).toMatchObject({ state: 'running' });

      // A network that it has left may go; one that it has joined may not.
      expect(await cloud.api.call('DELETE', '/networks/n2?project=default')).toMatchObject({ status: 409 });
      expect((await detach(id, third)).state).toBe('succeeded');
      await agree([fourth]);
      await remove(id);
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    3 * minutes,
  );

  it(
    'attaches and detaches one that is stopped: its next start has the cards',
    async () => {
      const { id, ports } = await make('cold');
      const first = ports[0]?.id ?? '';
      await act(id, 'stop', { force: true });
      const second = await attach(id, { network: 'n2' });
      expect(await read(id)).toMatchObject({
        state: 'stopped',
        stateReason: 'stopped by force: its guest did not power off in time, or was not asked',
      });
      expect((await detach(id, first)).state).toBe('succeeded');
      expect(onHost(id)).toMatchObject({ spec: { ports: [second] } });
      await act(id, 'start');
      expect(inMachine(id)).toEqual([second]);
      await remove(id);
    },
    2 * minutes,
  );

  it(
    'refuses what cannot be, and says why',
    async () => {
      const { id, ports } = await make('limits');
      const first = ports[0]?.id ?? '';
      const refused = async (answer: Promise<Answer<unknown>>): Promise<unknown> => {
        const { status, body } = await answer;
        return [status, (body as { code?: string }).code];
      };
      const ask = (body: { network: string; address?: string }): Promise<unknown> =>
        refused(cloud.api.call('POST', `/instances/${id}/ports`, body));
      expect(await refused(cloud.api.call('DELETE', `/instances/${id}/ports/${first}`))).toEqual([409, 'last_port']);
      // Not another project's network, by name or by id; not another instance's port.
      expect(await ask({ network: 'theirs' })).toEqual([404, 'not_found']);
      expect(await ask({ network: other })).toEqual([404, 'not_found']);
      const { id: neighbour, ports: theirs } = await make('neighbour');
      expect(await refused(cloud.api.call('DELETE', `/instances/${id}/ports/${theirs[0]?.id ?? ''}`))).toEqual([
        404,
        'not_found',
      ]);
      expect(await ask({ network: 'n2', address: '10.64.0.9' })).toEqual([422, 'address_outside']);
      expect(
        await cloud.api.call('POST', `/instances/${id}/ports`, { network: 'n2', address: '10.65.0.1' }),
      ).toMatchObject({ status: 422, body: { errors: [{ path: 'body.address' }] } });
      expect(await ask({ network: 'n1', address: theirs[0]?.address ?? '' })).toEqual([409, 'address_in_use']);
      await act(id, 'pause');
      expect(await ask({ network: 'n1' })).toEqual([409, 'instance_paused']);
      await act(id, 'resume');
      // A /29 has five addresses beside its gateway.
      for (let i = 0; i < 5; i += 1) await attach(id, { network: 'n2' });
      expect(await ask({ network: 'n2' })).toEqual([409, 'no_free_address']);
      for (let i = 0; i < 2; i += 1) await attach(id, { network: 'n1' });
      expect(await ask({ network: 'n1' })).toEqual([409, 'too_many_ports']);
      const { ports: all } = await read(id);
      expect(all.length).toBe(8);
      // What was refused is nowhere.
      const [row] = await cloud.database.database.query<{ nics: unknown[] }>(
        'SELECT nics FROM instance WHERE id = $1',
        [id],
      );
      expect(row?.nics.length).toBe(8);
      expect((await detach(id, all[7]?.id ?? '')).state).toBe('succeeded');
      expect(await refused(cloud.api.call('DELETE', `/instances/${id}/ports/${all[7]?.id ?? ''}`))).toEqual([
        404,
        'not_found',
      ]);
      for (const one of [id, neighbour]) await remove(one);
    },
    3 * minutes,
  );

  it(
    'has a card still that its guest does not let go; when it goes late, it comes back; delete waits for nobody',
    async () => {
      const { id, ports } = await make('stubborn', 'sim1');
      const second = await attach(id, { network: 'n2' });
      const both = [ports[0]?.id ?? '', second];
      expect(await detach(id, second)).toMatchObject({ state: 'failed', error: { code: 'device_held' } });
      expect(await read(id)).toMatchObject({
        state: 'running',
        stateReason: 'Its guest did not let the device go in time, and has it still.',
        taskId: null,
        ports: both.map((port) => ({ id: port })),
      });
      expect(onHost(id, 'sim1')).toMatchObject({ spec: { ports: both }, leaving: [second] });
      expect(inDocument('sim1')).toEqual(expect.arrayContaining(both));
      // A reset makes the machine anew, without what was to go.
      await act(id, 'reboot', { force: true });
      await eventually('the card to be back', () => onHost(id, 'sim1').leaving.length === 0, 30_000);
      expect(onHost(id, 'sim1').spec.ports).toEqual(both);
      // Stopped, there is no guest to ask.
      await act(id, 'stop', { force: true });
      expect((await detach(id, second)).state).toBe('succeeded');
      await act(id, 'start');
      const third = await attach(id, { network: 'n2' });
      const waiting = await cloud.api.ok('DELETE', `/instances/${id}/ports/${third}`);
      const gone = await cloud.api.ok('DELETE', `/instances/${id}`);
      expect((await cloud.settled(gone.taskId)).state).toBe('succeeded');
      expect(['cancelled', 'failed']).toContain((await cloud.settled(waiting.taskId)).state);
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    3 * minutes,
  );

  it(
    'takes one of five detaches and an attach at a time, and names the task to the others',
    async () => {
      const { id } = await make('race');
      for (let i = 0; i < 5; i += 1) await attach(id, { network: 'n1' });
      const { ports } = await read(id);
      const answers = await Promise.all([
        ...ports.slice(0, 5).map((port) => cloud.api.call('DELETE', `/instances/${id}/ports/${port.id}`)),
        cloud.api.call('POST', `/instances/${id}/ports`, { network: 'n2' }),
      ]);
      const accepted = answers.filter(({ status }) => status === 202);
      // One after the other, should one be done before the next is asked; never two at a time.
      const tasks = accepted.map(({ body }) => (body as { taskId: string }).taskId);
      expect(tasks.length).toBeGreaterThan(0);
      for (const { status, body } of answers.filter((answer) => answer.status !== 202)) {
        expect({ status, body }).toMatchObject({ status: 409, body: { code: 'task_running' } });
        expect(tasks).toContain((body as unknown as { task: { id: string } }).task.id);
      }
      for (const task of tasks) expect((await cloud.settled(task)).state).toBe('succeeded');
      const wanted = (await read(id)).ports.map((port) => port.id);
      expect(onHost(id).spec.ports).toEqual(wanted);
      expect(inMachine(id).sort()).toEqual([...wanted].sort());
      await remove(id);
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    2 * minutes,
  );

  it(
    'is gone when it is deleted beside a reboot or an attach, twenty times over',
    async () => {
      const one = async (name: string, round: number): Promise<void> => {
        const { id } = await make(name);
        const [asked, deleted] = await Promise.all([
          round % 2 === 0
            ? cloud.api.call('POST', `/instances/${id}/actions/reboot`, {})
            : cloud.api.call('POST', `/instances/${id}/ports`, { network: 'n2' }),
          cloud.api.call('DELETE', `/instances/${id}`),
        ]);
        expect(deleted.status).toBe(202);
        expect([202, 404, 409]).toContain(asked.status);
        expect((await cloud.settled(deleted.body.taskId)).state).toBe('succeeded');
        if (asked.body.taskId !== undefined)
          expect(['cancelled', 'succeeded', 'failed']).toContain((await cloud.settled(asked.body.taskId)).state);
        expect((await cloud.api.call('GET', `/instances/${id}`)).status).toBe(404);
      };
      for (let round = 0; round < 10; round += 1)
        await Promise.all([one(`reboot-${round}`, 0), one(`attach-${round}`, 1)]);
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    3 * minutes,
  );
});
