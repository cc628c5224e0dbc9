import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { processStartTime } from '../../src/core/host/processes/process-identity';
import type { Instance } from '../../src/modules/compute/contract/compute.api';
import type { TestCloud } from '../support/cloud';

const minutes = 60_000;

/** What becomes of `second`, which runs, when it stands still for a while. `vmmPid`: of an instance that has a VMM. */
export const stillAndSuspendedCases = (cloud: () => TestCloud, vmmPid: (instance: Instance) => number): void => {
  const act = async (verb: 'pause' | 'suspend' | 'resume' | 'nmi'): Promise<void> => {
    const asked = await cloud().api.ok('POST', `/instances/second/actions/${verb}?project=default`);
    await cloud().settled(asked.taskId);
  };
  it(
    'pauses: the guest stands still, also for an agent that was killed meanwhile, and goes on; an interrupt reaches it',
    async () => {
      const screen = await cloud().console('second');
      await screen.ask('echo up $((40 + 2))', /up 42/);
      screen.close();
      const { host, startedAt } = await cloud().instance('second');
      await act('pause');
      expect(await cloud().instance('second')).toMatchObject({ state: 'paused', stateReason: '', startedAt });
      for (const [verb, detail] of [
        ['pause', 'It is paused already.'],
        ['start', 'It is paused: resume it.'],
        ['reboot', 'It is paused: resume it.'],
        ['nmi', 'It is paused: resume it.'],
        ['stop', 'It is paused, so its guest cannot power off: resume it, or stop it by force.'],
      ] as const)
        expect(await cloud().api.call('POST', `/instances/second/actions/${verb}?project=default`)).toMatchObject({
          status: 409,
          body: { code: 'instance_paused', detail, state: 'paused' },
        });

      await cloud()
        .host(host?.name ?? '')
        .end('SIGKILL');
      await cloud()
        .host(host?.name ?? '')
        .start();
      await cloud().hostState(host?.name ?? '', 'ready');
      expect(await cloud().instance('second')).toMatchObject({ state: 'paused' });
      const still = await cloud().console('second');
      still.type('\necho moved $((50 + 2))\n');
      await act('resume');
      await still.until(/moved 52/);
      expect(await cloud().instance('second')).toMatchObject({ state: 'running', startedAt });
      expect(await cloud().api.call('POST', '/instances/second/actions/resume?project=default')).toMatchObject({
        status: 409,
        body: { code: 'instance_running', detail: 'It is neither paused nor suspended.' },
      });
      await act('nmi');
      await still.until(/NMI received for unknown reason/);
      still.close();
    },
    3 * minutes,
  );

  it(
    'suspends to disk: the VMM is gone, and the guest goes on with what it knew',
    async () => {
      const { host, ports, startedAt } = await cloud().instance('second');
      const screen = await cloud().console('second');
      await screen.ask('kept="since $(cut -d. -f1 /proc/uptime)"; echo noted $((60 + 2))', /noted 62/);
      screen.close();
      const pid = vmmPid(await cloud().instance('second'));
      await act('suspend');
      expect(await cloud().instance('second')).toMatchObject({ state: 'suspended', stateReason: '', startedAt: null });
      expect(processStartTime(pid)).toBeNull();
      expect(await cloud().api.call('POST', '/instances/second/actions/start?project=default')).toMatchObject({
        status: 409,
        body: { code: 'instance_suspended', detail: 'It is suspended: resume it.', state: 'suspended' },
      });
      await cloud()
        .host(host?.name ?? '')
        .end('SIGKILL');
      await cloud()
        .host(host?.name ?? '')
        .start();
      await cloud().hostState(host?.name ?? '', 'ready');
      expect(await cloud().instance('second')).toMatchObject({ state: 'suspended' });

      await act('resume');
      const after = await cloud().instance('second');
      expect(after).toMatchObject({ state: 'running', host, ports });
      expect(after.startedAt).not.toBe(startedAt);
      const again = await cloud().console('second');
      await again.ask('echo "kept $kept"', /kept since \d+/);
      // Its card works too.
      await again.ask('ping -c 1 -W 5 10.10.0.1 >/dev/null && echo reached $((70 + 2))', /reached 72/);
      again.close();
      const folder = join(cloud().stateOf(host?.name ?? ''), 'instances', after.id, 'suspended');
      expect(readdirSync(folder)).toEqual([]);

      await act('suspend');
      const stop = await cloud().api.ok('POST', '/instances/second/actions/stop?project=default', { force: true });
      await cloud().settled(stop.taskId);
      expect([await cloud().instance('second'), readdirSync(folder)]).toMatchObject([{ state: 'stopped' }, []]);
      const start = await cloud().api.ok('POST', '/instances/second/actions/start?project=default');
      await cloud().settled(start.taskId);
    },
    3 * minutes,
  );
};
