import { TestCloud } from '../support/cloud';

const minutes = 60_000;

describe('packets of a real guest', () => {
  let cloud: TestCloud;

  beforeAll(async () => {
    cloud = await TestCloud.start('walls', { hosts: ['h1', 'h2'] });
    await cloud.furnish();
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  it(
    "reach what lies behind the uplink, and none of the cloud's machines",
    async () => {
      const stopOutside = await cloud.serveOutside('hello');
      // They listen: the hosts are ready, and this test talks to management at the same address.
      const { items: hosts } = await cloud.api.ok('GET', '/hosts');
      const management = new URL(cloud.api.url).hostname;
      const machines = [`${management} 8443`, `${management} 8445`, ...hosts.map(({ address }) => `${address} 8444`)];
      expect(machines).toHaveLength(4);
      const targets = [...machines, '198.51.100.1 8000'];
      const script = [
        '#!/bin/sh',
        ...targets.map(
          (target) =>
            `nc -w 3 ${target} </dev/null >/dev/null 2>&1 && echo "@@ open ${target}" || echo "@@ closed ${target}"`,
        ),
        'echo "@@ tried"',
        '',
      ].join('\n');
      const { instance, taskId } = await cloud.create('prober', { userData: Buffer.from(script).toString('base64') });
      await cloud.settled(taskId);
      const screen = await cloud.console(instance.id);
      await screen.until(/@@ tried/);
      const seen = [...screen.text.matchAll(/@@ (open|closed) (\S+ \d+)/g)].map(
        ([, verdict, target]) => `${target} ${verdict}`,
      );
      expect(new Set(seen)).toEqual(
        new Set([...machines.map((target) => `${target} closed`), '198.51.100.1 8000 open']),
      );
      screen.close();
      await stopOutside();
    },
    3 * minutes,
  );

  it(
    'leave nothing behind',
    async () => {
      const { taskId } = await cloud.api.ok('DELETE', '/instances/prober?project=default');
      await cloud.settled(taskId);
      expect(await cloud.leftovers()).toEqual([]);
    },
    2 * minutes,
  );
});
