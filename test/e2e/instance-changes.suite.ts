import type { TestCloud } from '../support/cloud';

const minutes = 60_000;

/** What users write beside an instance, what keeps it from mistakes, and how it grows. `at` has a running guest called `second`. */
export const instanceChangeCases = (at: () => TestCloud): void => {
  const path = '/instances/second?project=default' as const;
  const act = (verb: 'start' | 'stop' | 'reboot' | 'pause' | 'resume' | 'nmi' | 'lock' | 'unlock', body?: object) =>
    at().api.call('POST', `/instances/second/actions/${verb}?project=default`, body);
  const patch = (body: object) => at().api.call('PATCH', path, body);

  it(
    'is found by its tags, and its guest reads the metadata that it was given meanwhile',
    async () => {
      const edited = await patch({ tags: ['web', 'blue', 'web'], metadata: { role: 'front "1"', 'a.b': '' } });
      expect(edited).toMatchObject({
        status: 200,
        body: { tags: ['blue', 'web'], metadata: { role: 'front "1"', 'a.b': '' }, state: 'running' },
      });
      const { taskId } = await at().instance('second');
      if (taskId !== null) await at().settled(taskId);
      const { items } = await at().api.ok('GET', '/instances?tag=web');
      expect(items.map((i) => i.name)).toEqual(['second']);
      expect((await at().api.ok('GET', '/instances?tag=we')).items).toEqual([]);
      const { files } = await at().api.ok('GET', '/instances/second/guest-data?project=default');
      const told = files.find((file) => file.path === 'openstack/latest/meta_data.json')?.text ?? '';
      expect(JSON.parse(told)).toMatchObject({ meta: { role: 'front "1"', 'a.b': '' } });
      const screen = await at().console('second');
      const read = 'wget -q -O - http://169.254.169.254/openstack/latest/meta_data.json';
      await screen.ask(read, /"meta":\{"a\.b":"","role":"front \\"1\\""\}/);
      screen.close();
      // The same again changes nothing, and needs no task.
      expect((await patch({ metadata: { 'a.b': '', role: 'front "1"' } })).body).toMatchObject({ taskId: null });
      for (const [body, at] of [
        [{ tags: ['a,b'] }, 'body.tags.0'],
        [{ tags: Array.from({ length: 51 }, (_, n) => `t${n}`) }, 'body.tags'],
        [{ metadata: { __proto__x: '' } }, 'body.metadata'],
        [{ metadata: { 'a b': '' } }, 'body.metadata'],
      ] as const)
        expect(await patch(body)).toMatchObject({
          status: 400,
          body: { errors: [{ path: expect.stringContaining(at) }] },
        });
    },
    2 * minutes,
  );

  it(
    'is not deleted while it is protected, and nothing at all is done to it while it is locked',
    async () => {
      expect(await patch({ protected: true })).toMatchObject({ status: 200, body: { protected: true } });
      expect(await at().api.call('DELETE', path)).toMatchObject({ status: 409, body: { code: 'instance_protected' } });
      expect(await act('lock', { reason: 'until the move' })).toMatchObject({
        status: 200,
        body: { lock: { reason: 'until the move' }, protected: true },
      });
      const locked = {
        status: 409,
        body: { code: 'instance_locked', detail: expect.stringContaining('until the move') },
      };
      for (const verb of ['start', 'stop', 'reboot', 'pause', 'resume', 'nmi', 'lock'] as const)
        expect([verb, await act(verb)]).toEqual([verb, expect.objectContaining({ status: 409 })]);
      expect(await act('stop')).toMatchObject(locked);
      expect(await patch({ protected: false })).toMatchObject(locked);
      expect(await at().api.call('DELETE', path)).toMatchObject(locked);
      expect(await at().instance('second')).toMatchObject({ state: 'running', taskId: null });
      const screen = await at().console('second');
      await screen.ask('echo locked $((40 + 2))', /locked 42/);
      screen.close();
      expect(await act('unlock')).toMatchObject({ status: 200, body: { lock: null } });
      expect(await act('unlock')).toMatchObject({ status: 409, body: { code: 'instance_not_locked' } });
      expect(await patch({ protected: false, tags: [] })).toMatchObject({
        status: 200,
        body: { protected: false, tags: [] },
      });
    },
    2 * minutes,
  );

  it(
    'gets another flavor while it is stopped: its guest finds more memory, vCPUs and disk at the next start',
    async () => {
      const MiB = 2 ** 20;
      for (const [name, vcpus, memoryBytes, diskBytes] of [
        ['bigger', 2, 256 * MiB, 64 * MiB],
        ['huge', 1000, 256 * MiB, 0],
        ['flat', 1, 256 * MiB, 33 * MiB],
      ] as const)
        await at().api.ok('POST', '/flavors', { name, vcpus, memoryBytes, diskBytes });
      const resize = (flavor: string) =>
        at().api.call('POST', '/instances/second/actions/resize?project=default', { flavor });
      const settled = async (verb: 'stop' | 'start'): Promise<void> => {
        await at().settled((await at().api.ok('POST', `/instances/second/actions/${verb}?project=default`, {})).taskId);
      };
      expect(await resize('bigger')).toMatchObject({ status: 409, body: { code: 'instance_running' } });
      await settled('stop');
      expect(await resize('huge')).toMatchObject({
        status: 409,
        body: { code: 'no_room', detail: expect.stringMatching(/needs 999 of vCPUs, has -?\d+ free/) },
      });
      const { instance, taskId } = await at().api.ok('POST', '/instances/second/actions/resize?project=default', {
        flavor: 'bigger',
      });
      expect(instance.state).toBe('resizing');
      await at().settled(taskId);
      const resized = await at().instance('second');
      expect(resized).toMatchObject({
        state: 'stopped',
        flavor: { name: 'bigger', vcpus: 2, memoryBytes: 256 * MiB, diskBytes: 64 * MiB },
      });
      const { capacity } = await at().api.ok('GET', `/hosts/${resized.host?.id ?? ''}`);
      expect(capacity).toMatchObject({ vcpusUsed: 2, memoryBytesUsed: 256 * MiB, diskBytesUsed: 64 * MiB });
      const { items } = await at().api.ok('GET', `/volumes?q=${resized.id}`);
      expect(items.map((volume) => volume.bytes)).toEqual([64 * MiB]);
      expect(await resize('flat')).toMatchObject({
        status: 422,
        body: { errors: [{ path: 'body.flavor', code: 'disk_would_shrink' }] },
      });
      await settled('start');
      const screen = await at().console('second');
      await screen.until(/@@ ready second/);
      await screen.ask('echo $(nproc) vcpus $(cat /sys/block/vda/size) sectors', /2 vcpus 131072 sectors/);
      await screen.ask('awk \'/MemTotal/ { print ($2 > 200000) ? "more" : "less" }\' /proc/meminfo', /more/);
      screen.close();
    },
    3 * minutes,
  );
};
