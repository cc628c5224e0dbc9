import { readFileSync } from 'node:fs';
import { guestImage, type TestCloud } from '../support/cloud';
import { eventually } from '../support/eventually';

const minutes = 60_000;

/** What users write beside an instance, what keeps it from mistakes, how it grows and gets another disk. `at` has a running guest called `second`. */
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
      // A key that cannot be one is like a field that there is not: of the request's shape.
      for (const [body, status, path] of [
        [{ tags: ['a,b'] }, 422, 'body.tags.0'],
        [{ tags: Array.from({ length: 51 }, (_, n) => `t${n}`) }, 422, 'body.tags'],
        [{ metadata: { 'a b': '' } }, 400, 'body.metadata'],
        [{ metadata: { a: '\u0000' } }, 422, 'body.metadata.a'],
      ] as const)
        expect(await patch(body)).toMatchObject({
          status,
          body: { errors: [{ path: expect.stringContaining(path) }] },
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
      const limits = {
        disk: { iops: 2000, bytesPerSecond: 32 * MiB, burstSeconds: 2 },
        nic: { bytesPerSecond: 16 * MiB, burstSeconds: 1 },
      };
      for (const [name, vcpus, memoryBytes, diskBytes] of [
        ['bigger', 2, 256 * MiB, 64 * MiB],
        ['huge', 1000, 256 * MiB, 0],
        ['flat', 1, 256 * MiB, 33 * MiB],
      ] as const)
        await at().api.ok('POST', '/flavors', { name, vcpus, memoryBytes, diskBytes, limits });
      const resize = (flavor: string) =>
        at().api.call('POST', '/instances/second/actions/resize?project=default', { flavor });
      const settled = async (verb: 'stop' | 'start'): Promise<void> => {
        await at().settled((await at().api.ok('POST', `/instances/second/actions/${verb}?project=default`, {})).taskId);
      };
      expect(await resize('bigger')).toMatchObject({
        status: 409,
        body: { code: 'resize_needs_stop', detail: expect.stringContaining('was created without a maximum') },
      });
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
        flavor: { name: 'bigger', vcpus: 2, memoryBytes: 256 * MiB, diskBytes: 64 * MiB, limits },
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

  it(
    'keeps all but its disk when it is rebuilt from another image',
    async () => {
      const settled = async (verb: 'stop' | 'start'): Promise<void> => {
        await at().settled((await at().api.ok('POST', `/instances/second/actions/${verb}?project=default`, {})).taskId);
      };
      const rebuild = (body: object) =>
        at().api.call('POST', '/instances/second/actions/rebuild?project=default', body);
      const before = await at().instance('second');
      const read = (word: string): string =>
        `dd if=/dev/vda bs=512 skip=1000 count=1 2>/dev/null | head -c 4 | od -An -tx1; echo ${word} $((40 + 2))`;
      const screen = await at().console('second');
      await screen.ask(
        'echo mine | dd of=/dev/vda bs=512 seek=1000 conv=fsync 2>/dev/null; echo put $((40 + 2))',
        /put 42/,
      );
      await screen.ask(read('before'), /6d 69 6e 65\s+before 42/);
      screen.close();
      expect(await rebuild({})).toMatchObject({ status: 409, body: { code: 'instance_running' } });
      await settled('stop');
      const image = await at().api.ok('POST', '/images?project=default', { name: 'linux-2' });
      expect(await rebuild({ image: 'linux-2' })).toMatchObject({ status: 409, body: { code: 'image_not_ready' } });
      await at().api.ok('PUT', `/images/${image.id}/content`, readFileSync(guestImage()));
      const volumes = async () => (await at().api.ok('GET', `/volumes?q=${before.id}`)).items;
      const [old] = await volumes();
      const asked = await rebuild({ image: 'linux-2' });
      expect(asked).toMatchObject({ status: 202, body: { instance: { state: 'rebuilding' } } });
      await at().settled((asked.body as { taskId: string }).taskId);
      const { flavor, ports, sshKeys, metadata, hostname, id } = before;
      expect(await at().instance('second')).toMatchObject({
        ...{ flavor, ports, sshKeys, metadata, hostname, id },
        state: 'stopped',
        image: { name: 'linux-2' },
      });
      const now = await volumes();
      expect(now).toEqual([expect.objectContaining({ bytes: old?.bytes, imageId: image.id, state: 'in-use' })]);
      expect(now[0]?.id).not.toBe(old?.id);
      await eventually(
        'the old disk gone',
        () =>
          !at()
            .leftovers()
            .some((line) => line.includes(`${old?.id}`)),
      );
      await settled('start');
      const again = await at().console('second');
      await again.until(/@@ ready second/);
      // What was written before is on the console still.
      await again.ask(read('after'), /00 00 00 00\s+after 42/);
      again.close();
      const { capacity } = await at().api.ok('GET', `/hosts/${before.host?.id ?? ''}`);
      expect(capacity).toMatchObject({ diskBytesUsed: flavor.diskBytes });
    },
    3 * minutes,
  );
};
