import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SimulatedCloud } from '../model/simulated-cloud';
import type { Answer } from '../support/api-client';
import { eventually } from '../support/eventually';

const minutes = 60_000;
const mib = 2 ** 20;

interface OnHost {
  spec: { disks: { volumeId: string }[] };
  leaving: string[];
}

describe('volumes that instances get and lose', () => {
  let cloud: SimulatedCloud;

  beforeAll(async () => {
    cloud = await SimulatedCloud.start('disks', {
      hosts: 2,
      keepAlive: true,
      computeEnv: { VC_STACK_MODULES__COMPUTE__DETACH_SECONDS: '2' },
      // Guests of the second never let a device go.
      hostEnv: [{}, { VC_STACK_MODULES__COMPUTE__SIMULATED__EJECT_MS: '600000' }],
    });
    await cloud.api.ok('POST', '/projects', { name: 'other' });
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  const make = async (name: string, host = 'sim0'): Promise<string> => {
    const made = await cloud.api.ok('POST', '/instances?project=default', cloud.body(name, { host }));
    expect((await cloud.settled(made.taskId)).state).toBe('succeeded');
    return made.instance.id;
  };
  const volume = async (name: string, instance: string, project = 'default'): Promise<string> => {
    const body = { name, bytes: 64 * mib, ...(project === 'default' && { instance }) };
    const made = await cloud.api.ok('POST', `/volumes?project=${project}`, body);
    expect((await cloud.settled(made.taskId)).state).toBe('succeeded');
    return made.volume.id;
  };
  const read = (id: string) => cloud.api.ok('GET', `/volumes/${id}`);
  const asked = (id: string, ref: string, readonly = false) =>
    cloud.api.call('POST', `/instances/${id}/volumes`, { volume: ref, readonly });
  const attach = async (id: string, ref: string): Promise<void> => {
    const { taskId } = await cloud.api.ok('POST', `/instances/${id}/volumes`, { volume: ref });
    expect(await cloud.settled(taskId)).toMatchObject({ state: 'succeeded' });
  };
  const detach = async (id: string, ref: string): ReturnType<SimulatedCloud['settled']> =>
    cloud.settled((await cloud.api.ok('DELETE', `/instances/${id}/volumes/${ref}`)).taskId);
  const act = async (id: string, verb: 'start' | 'stop' | 'pause' | 'resume' | 'reboot', body = {}): Promise<void> => {
    const { taskId } = await cloud.api.ok('POST', `/instances/${id}/actions/${verb}`, body);
    expect((await cloud.settled(taskId)).state).toBe('succeeded');
  };
  const remove = async (path: '/instances' | '/volumes', id: string): Promise<void> => {
    const { body } = await cloud.api.call('DELETE', `${path}/${id}` as '/volumes/{ref}');
    expect((await cloud.settled(body.taskId)).state).toBe('succeeded');
  };
  const refused = async (answer: Promise<Answer<unknown>>): Promise<unknown> => {
    const { status, body } = await answer;
    return [status, (body as { code?: string }).code];
  };
  const onHost = (id: string, host = 'sim0'): OnHost =>
    JSON.parse(
      readFileSync(join(cloud.directory, host, 'state', 'compute', 'instances', id, 'instance.json'), 'utf8'),
    ) as OnHost;
  const recorded = (id: string, host = 'sim0'): string[] =>
    onHost(id, host)
      .spec.disks.slice(1)
      .map(({ volumeId }) => volumeId);
  /** The data disks of the simulated machine, which has a file instead of a process. */
  const inMachine = (id: string, host = 'sim0'): string[] =>
    (
      JSON.parse(readFileSync(join(cloud.directory, host, 'run', 'c', 'i', id, 'simulated.json'), 'utf8')) as {
        spec: { disks: { id: string; detachable?: boolean }[] };
      }
    ).spec.disks
      .filter((disk) => disk.detachable === true)
      .map((disk) => disk.id);
  const pool = (host: string, ...parts: string[]): string =>
    join(cloud.directory, host, 'state', 'compute', 'pools', 'default', ...parts);
  /** What the host has given the instance. */
  const given = (id: string, host = 'sim0'): string[] =>
    existsSync(pool(host, 'attached', id))
      ? readdirSync(pool(host, 'attached', id)).map((f) => f.split('.')[0] ?? '')
      : [];

  it(
    'come and go while it runs; management, host and machine agree, over starts and a killed agent; its end gives them back',
    async () => {
      const web = await make('web');
      const [one, two] = [await volume('one', web), await volume('two', web)];
      const agree = async (wanted: string[]): Promise<void> => {
        const { items } = await cloud.api.ok('GET', `/volumes?instance=${web}&role=data`);
        expect(items.map((v) => v.id).sort()).toEqual([...wanted].sort());
        expect(recorded(web)).toEqual(wanted);
        expect(inMachine(web).sort()).toEqual([...wanted].sort());
        expect(given(web).sort()).toEqual([...wanted].sort());
        expect(onHost(web).leaving).toEqual([]);
      };
      await attach(web, 'one');
      expect(await read(one)).toMatchObject({ state: 'in-use', instanceId: web, attachments: [{ position: 1 }] });
      await attach(web, two);
      await agree([one, two]);
      expect(await refused(cloud.api.call('DELETE', `/volumes/${one}`))).toEqual([409, 'volume_in_use']);

      await cloud.hosts[0]?.end('SIGKILL');
      await cloud.hosts[0]?.start();
      await cloud.hostsReady();
      await agree([one, two]);
      await act(web, 'stop', { force: true });
      await act(web, 'start');
      await agree([one, two]);
      expect((await detach(web, 'one')).state).toBe('succeeded');
      expect(await read(one)).toMatchObject({ state: 'available', instanceId: null, attachments: [] });
      await agree([two]);
      await remove('/instances', web);
      expect(await read(two)).toMatchObject({ state: 'available', instanceId: null });
      expect(statSync(pool('sim0', `${two}.name`)).nlink).toBe(1);
      for (const id of [one, two]) await remove('/volumes', id);
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    3 * minutes,
  );

  it(
    'come and go while it is stopped, and are in its next machine; read-only where that was asked for',
    async () => {
      const cold = await make('cold');
      const id = await volume('cold', cold);
      await act(cold, 'stop', { force: true });
      const answer = await asked(cold, 'cold', true);
      expect((await cloud.settled(answer.body.taskId)).state).toBe('succeeded');
      expect(await read(id)).toMatchObject({ state: 'in-use', attachments: [{ position: 1, readonly: true }] });
      expect(given(cold)).toEqual([id]);
      await act(cold, 'start');
      expect(inMachine(cold)).toEqual([id]);
      await act(cold, 'stop', { force: true });
      expect((await detach(cold, 'cold')).state).toBe('succeeded');
      expect([recorded(cold), given(cold)]).toEqual([[], []]);
      await act(cold, 'start');
      expect(inMachine(cold)).toEqual([]);
      await remove('/instances', cold);
      await remove('/volumes', id);
    },
    2 * minutes,
  );

  it(
    'are refused where they cannot be, and says why',
    async () => {
      const [web, away] = [await make('web'), await make('away', 'sim1')];
      const id = await volume('mine', web);
      const theirs = await volume('theirs', web, 'other');
      expect(await refused(asked(web, theirs))).toEqual([404, 'not_found']);
      expect(await refused(asked(web, 'theirs'))).toEqual([404, 'not_found']);
      expect(await refused(asked(away, id))).toEqual([409, 'other_host']);
      const [root] = (await cloud.api.ok('GET', `/volumes?instance=${away}`)).items;
      expect(await refused(asked(web, root?.id ?? ''))).toEqual([409, 'root_volume']);
      expect(await refused(cloud.api.call('DELETE', `/instances/${web}/volumes/${id}`))).toEqual([404, 'not_found']);
      await act(web, 'pause');
      expect(await refused(asked(web, id))).toEqual([409, 'instance_paused']);
      await act(web, 'resume');
      const all = [id];
      for (let n = 1; n < 9; n += 1) all.push(await volume(`v${n}`, web));
      for (const one of all.slice(0, 8)) await attach(web, one);
      expect(await refused(asked(web, all[8] ?? ''))).toEqual([409, 'too_many_volumes']);
      expect((await read(all[8] ?? '')).state).toBe('available');
      for (const one of [web, away]) await remove('/instances', one);
      for (const one of [...all, theirs]) await remove('/volumes', one);
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    3 * minutes,
  );

  it(
    'are still there when its guest does not let them go; one that goes late comes back; delete waits for nobody',
    async () => {
      const stubborn = await make('stubborn', 'sim1');
      const id = await volume('held', stubborn);
      await attach(stubborn, id);
      expect(await detach(stubborn, id)).toMatchObject({ state: 'failed', error: { code: 'device_held' } });
      expect(await read(id)).toMatchObject({ state: 'in-use', instanceId: stubborn });
      expect([recorded(stubborn, 'sim1'), onHost(stubborn, 'sim1').leaving]).toEqual([[id], [id]]);
      await act(stubborn, 'reboot', { force: true });
      await eventually('the disk to be back', () => onHost(stubborn, 'sim1').leaving.length === 0, 30_000);
      expect(inMachine(stubborn, 'sim1')).toEqual([id]);
      const waiting = await cloud.api.ok('DELETE', `/instances/${stubborn}/volumes/${id}`);
      await remove('/instances', stubborn);
      expect(['cancelled', 'failed']).toContain((await cloud.settled(waiting.taskId)).state);
      expect(await read(id)).toMatchObject({ state: 'available', instanceId: null });
      await remove('/volumes', id);
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    3 * minutes,
  );

  it(
    'go to one of two that ask at once, and one of five detaches and an attach goes at a time',
    async () => {
      const [a, b] = [await make('a'), await make('b')];
      const ids: string[] = [];
      for (let n = 0; n < 6; n += 1) ids.push(await volume(`r${n}`, a));
      const both = await Promise.all([asked(a, 'r0'), asked(b, 'r0')]);
      expect(both.map(({ status }) => status).sort()).toEqual([202, 409]);
      const [won, lost] = both[0]?.status === 202 ? both : [...both].reverse();
      expect(['volume_in_use', 'task_running']).toContain(lost?.body.code);
      expect((await cloud.settled(won?.body.taskId ?? '')).state).toBe('succeeded');
      const { instanceId } = await read(ids[0] ?? '');
      expect((await detach(instanceId ?? '', 'r0')).state).toBe('succeeded');

      for (const id of ids.slice(0, 5)) await attach(a, id);
      const answers = await Promise.all([
        ...ids.slice(0, 5).map((id) => cloud.api.call('DELETE', `/instances/${a}/volumes/${id}`)),
        asked(a, ids[5] ?? ''),
      ]);
      const tasks = answers.flatMap(({ status, body }) => (status === 202 ? [body.taskId] : []));
      expect(tasks.length).toBeGreaterThan(0);
      for (const { status, body } of answers.filter((answer) => answer.status !== 202))
        expect({ status, body }).toMatchObject({ status: 409, body: { code: 'task_running' } });
      for (const task of tasks) expect((await cloud.settled(task)).state).toBe('succeeded');
      const { items } = await cloud.api.ok('GET', `/volumes?instance=${a}&role=data`);
      expect(inMachine(a).sort()).toEqual(items.map((v) => v.id).sort());
      for (const id of ids) expect(['available', 'in-use']).toContain((await read(id)).state);
      for (const one of [a, b]) await remove('/instances', one);
      for (const id of ids) await remove('/volumes', id);
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    3 * minutes,
  );

  it(
    'end where one of both went first, when an attach meets the deletion of the volume or of the instance',
    async () => {
      for (let round = 0; round < 8; round += 1) {
        const web = await make(`meet-${round}`);
        const id = await volume(`meet-${round}`, web);
        const [attached, deleted] = await Promise.all([
          asked(web, id),
          round % 2 === 0
            ? cloud.api.call('DELETE', `/volumes/${id}`)
            : cloud.api.call('DELETE', `/instances/${web}` as '/volumes/{ref}'),
        ]);
        expect([202, 404, 409]).toContain(attached.status);
        expect([202, 409]).toContain(deleted.status);
        for (const { status, body } of [attached, deleted])
          if (status === 202)
            expect(['succeeded', 'cancelled', 'failed']).toContain((await cloud.settled(body.taskId)).state);
        const left = await cloud.api.call('GET', `/volumes/${id}`);
        // Of the volume and its attachment never both are gone and there.
        if (left.status === 200) expect(['available', 'in-use']).toContain(left.body.state);
        if ((await cloud.api.call('GET', `/instances/${web}`)).status === 200) await remove('/instances', web);
        if (left.status === 200) await remove('/volumes', id);
      }
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    3 * minutes,
  );
});
