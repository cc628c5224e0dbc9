import type { TestCloud } from '../support/cloud';

const minutes = 60_000;

/** What users write beside an instance, and what keeps it from mistakes. `at` has a running guest called `second`. */
export const guardedInstanceCases = (at: () => TestCloud): void => {
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
      await screen.ask(read, /"meta":\{"role":"front \\"1\\"","a\.b":""\}/);
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
          status: 422,
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
};
