import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Instance } from '../../src/modules/compute/contract/compute.api';
import { troubledGuestDisk } from '../integration/compute/troubled-guest';
import { TestCloud } from '../support/cloud';
import type { EventReader } from '../support/event-reader';
import { eventually } from '../support/eventually';
import { followEvents } from '../support/follow-events';
import type { TestConsole } from '../support/test-console';

const minutes = 60_000;

type Machine = { watchdog?: 'restart' | 'stop' | 'notify'; panic?: 'restart' | 'stop' | 'notify' };

describe('real guests that hang or panic', () => {
  let cloud: TestCloud;
  let made: string;
  let events: EventReader;
  let words = 0;

  beforeAll(async () => {
    made = mkdtempSync('/tmp/vcs-troubled-');
    chmodSync(made, 0o755);
    cloud = await TestCloud.start('trouble', {
      computeEnv: { VC_STACK_MODULES__COMPUTE__RESTARTS__COUNT: '2' },
    });
    const image = await cloud.api.ok('POST', '/images?project=default', { name: 'linux' });
    await cloud.api.ok('PUT', `/images/${image.id}/content`, readFileSync(await troubledGuestDisk(made)));
    await cloud.api.ok('POST', '/flavors', { name: 'tiny', vcpus: 1, memoryBytes: 192 * 2 ** 20 });
    await cloud.api.ok('POST', '/networks?project=default', { name: 'n1', subnet: '10.10.0.0/24' });
    events = await followEvents(cloud.api);
  }, 4 * minutes);
  afterAll(async () => {
    events?.close();
    await cloud?.close();
    if (made) rmSync(made, { recursive: true, force: true });
  }, 2 * minutes);

  const boot = async (name: string, machine: Machine): Promise<TestConsole> => {
    const { taskId } = await cloud.create(name, { vmm: 'qemu', machine });
    await cloud.settled(taskId);
    return ready(name);
  };
  const ready = async (name: string): Promise<TestConsole> => {
    const screen = await cloud.console(name);
    // A console begins with what was said before: each time another word.
    words += 1;
    await screen.say(`word-${words}`, new RegExp(`heard word-${words}`));
    return screen;
  };
  const hang = (screen: TestConsole): Promise<unknown> => screen.say('hang', /hangs/);
  /** What was told of an instance beside that it changed, with the reason of each end. */
  const told = ({ id }: Instance): string[] =>
    events.events
      .filter(({ subject, type }) => subject.id === id && !/created|updated|deleted/.test(type))
      .map(({ type, data }) => {
        const { exit } = data as { exit?: { reason: string } };
        return exit ? `${type} ${exit.reason}` : type;
      });
  const until = (name: string, what: string, is: (instance: Instance) => boolean): Promise<Instance> =>
    eventually(
      `${name}: ${what}`,
      async () => {
        const now = await cloud.instance(name);
        return is(now) && now;
      },
      2 * minutes,
    );
  /** What QEMU wrote down of it, whether an agent is there or not. */
  const written = (id: string): string => {
    const record = JSON.parse(readFileSync(join(cloud.stateOf('h1'), 'instances', id, 'instance.json'), 'utf8')) as {
      handle: { runDir: string };
    };
    return readFileSync(join(record.handle.runDir, 'events.json'), 'utf8');
  };

  it(
    'start again after a panic, and go on after one that is only to be told',
    async () => {
      const again = await boot('again', { panic: 'restart' });
      const before = await cloud.instance('again');
      expect(before.machine).toEqual({
        secureBoot: false,
        tpm: false,
        balloon: false,
        vsock: false,
        watchdog: null,
        panic: 'restart',
      });
      again.type('panic\n');
      const restarted = await until(
        'again',
        'started again',
        (i) => i.startedAt !== before.startedAt && i.state === 'running',
      );
      expect(restarted.lastExit).toMatchObject({ reason: 'guest-panic' });
      again.close();
      (await ready('again')).close();
      expect(told(before)).toContain('instance.ended guest-panic');

      const still = await boot('still', { panic: 'notify' });
      still.type('panic\n');
      const panicked = await until('still', 'panicked', ({ guest }) => guest?.panickedAt != null);
      expect(panicked).toMatchObject({ state: 'running', stateReason: 'its guest panicked', lastExit: null });
      await eventually('the event', () => told(panicked).includes('instance.panicked'));
      still.close();
      for (const name of ['again', 'still'])
        await cloud.settled((await cloud.api.ok('DELETE', `/instances/${name}?project=default`)).taskId);
    },
    4 * minutes,
  );

  it(
    'get what was asked of their watchdogs while no agent is there, and the next one tells it',
    async () => {
      const names = ['restart', 'stop', 'notify'] as const;
      const screens = new Map<string, TestConsole>();
      for (const watchdog of names) screens.set(watchdog, await boot(watchdog, { watchdog }));
      const before = new Map<string, Instance>();
      for (const name of names) before.set(name, await cloud.instance(name));
      for (const name of names) await hang(screens.get(name)!);
      await cloud.host('h1').end('SIGKILL');
      for (const name of names)
        await eventually(
          `the watchdog of ${name}`,
          () => written(before.get(name)?.id ?? '').includes('"WATCHDOG"'),
          minutes,
        );
      for (const screen of screens.values()) screen.close();
      await cloud.host('h1').start();
      await cloud.hostState('h1', 'ready');

      const restarted = await until(
        'restart',
        'told',
        ({ guest }) => guest?.watchdogAt != null && guest.resetAt !== null,
      );
      expect(restarted).toMatchObject({ state: 'running', stateReason: '', lastExit: null });
      expect(restarted.startedAt).toBe(before.get('restart')?.startedAt);
      const stopped = await until('stop', 'told', ({ state }) => state === 'error');
      expect(stopped).toMatchObject({ stateReason: 'its watchdog fired', lastExit: { reason: 'watchdog' } });
      const going = await until('notify', 'told', ({ guest }) => guest?.watchdogAt != null);
      expect(going).toMatchObject({ state: 'running', stateReason: 'its watchdog fired', lastExit: null });
      await eventually('their events', () =>
        [restarted, stopped, going].every((one) => told(one).includes('instance.watchdog-fired')),
      );
      expect(told(restarted)).toContain('instance.reset');
      expect(told(stopped)).toContain('instance.ended watchdog');
      await cloud.settled((await cloud.api.ok('POST', '/instances/stop/actions/start?project=default')).taskId);
      (await ready('stop')).close();
    },
    5 * minutes,
  );

  it(
    'are ended when a watchdog restarts them too often, and stay so',
    async () => {
      const one = await cloud.instance('restart');
      // Once it did already, while no agent was there.
      const second = await ready('restart');
      await hang(second);
      await until('restart', 'restarted', ({ guest }) => guest?.watchdogAt !== one.guest?.watchdogAt);
      second.close();
      const third = await ready('restart');
      await hang(third);
      const ended = await until('restart', 'ended', ({ state }) => state === 'error');
      third.close();
      expect(ended.stateReason).toMatch(
        /^its watchdog fired; it was started again 2 times within 10 minutes, and is not any more$/,
      );
      expect(ended.lastExit).toMatchObject({ reason: 'watchdog' });
      await eventually('its end', () => told(ended).includes('instance.ended watchdog'));
    },
    4 * minutes,
  );
});
