import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Instance } from '../../src/modules/compute/contract/compute.api';
import { TestCloud } from '../support/cloud';

const minutes = 60_000;

describe('what a real guest sees of the cloud', () => {
  let cloud: TestCloud;

  beforeAll(async () => {
    cloud = await TestCloud.start('view', { hosts: ['h1'] });
    await cloud.furnish();
    await cloud.api.ok('POST', '/networks?project=default', { name: 'inner', subnet: '10.20.0.0/24' });
    await cloud.api.ok('POST', '/flavors', {
      name: 'vended',
      vcpus: 1,
      memoryBytes: 192 * 2 ** 20,
      vendorData: '#cloud-config\ntimezone: Europe/Berlin\n',
    });
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  const driveOf = (instance: Instance): string =>
    join(cloud.stateOf(instance.host?.name ?? ''), 'instances', instance.id, 'config-drive.iso');
  const exists = (path: string): Promise<boolean> =>
    access(path).then(
      () => true,
      () => false,
    );

  it(
    'its id, all its cards in the user’s order, one way out, vendor data, and its config drive while it runs',
    async () => {
      const { instance, taskId } = await cloud.create('two cards', {
        flavor: 'vended',
        networks: [{ network: 'inner' }, { network: 'n1', defaultRoute: true }],
        configDrive: 'openstack',
        userData: Buffer.from([0x1f, 0x8b, 8, 0, 255, 10, 0]).toString('base64'),
      });
      expect(instance.configDrive).toBe('openstack');
      await cloud.settled(taskId);
      const running = await cloud.instance(instance.id);
      expect(running.ports.map((p) => p.network)).toEqual(['inner', 'n1']);
      const screen = await cloud.console(instance.id);
      await screen.until(/@@ ready /);
      screen.type(
        '\ncat /sys/class/dmi/id/product_name /sys/class/dmi/id/product_uuid; for c in eth0 eth1; do echo "card $c $(cat /sys/class/net/$c/address)"; done\n',
      );
      await screen.until(/OpenStack Compute/);
      await screen.until(new RegExp(instance.id, 'i'));
      await screen.until(
        new RegExp(`card eth0 ${running.ports[0]?.mac ?? ''}\\s+card eth1 ${running.ports[1]?.mac ?? ''}`),
      );
      screen.type(
        '\nuntil ip addr show eth0 | grep -q 10.20.0 && ip addr show eth1 | grep -q 10.10.0; do sleep 1; done; echo "ways $(ip route | grep -c ^default) $(ip route | grep ^default | cut -d" " -f3)"\n',
      );
      await screen.until(/ways 1 10\.10\.0\.1/);
      screen.type(
        '\necho "vendor $(wget -q -O - http://169.254.169.254/openstack/latest/vendor_data.json)"; echo "drive $(dd if=/dev/vdb bs=1 skip=32808 count=8 2>/dev/null) $(cat /sys/block/vdb/ro)"\n',
      );
      await screen.until(/vendor \{"cloud-init":"#cloud-config\\ntimezone: Europe\/Berlin\\n"\}/);
      await screen.until(/drive config-2 1/);

      // A card that comes while it runs, with its address, and one that goes: that with which it was made, no less.
      const asked = await cloud.api.ok('POST', `/instances/${instance.id}/ports`, { network: 'inner' });
      await cloud.settled(asked.taskId);
      const third = (await cloud.instance(instance.id)).ports[2];
      expect(third).toMatchObject({ id: asked.portId, network: 'inner' });
      screen.type(
        `\nuntil ip addr show eth2 2>/dev/null | grep -q '${third?.address ?? ''}/'; do sleep 1; done; echo "plugged $(cat /sys/class/net/eth2/address) $(ip route | grep -c ^default)"\n`,
      );
      await screen.until(new RegExp(`plugged ${third?.mac ?? ''} 1`));
      const first = running.ports[0]?.id ?? '';
      const letGo = await cloud.api.ok('DELETE', `/instances/${instance.id}/ports/${first}`);
      await cloud.settled(letGo.taskId);
      screen.type('\necho "cards" $(ls /sys/class/net)\n');
      await screen.until(/cards eth1 eth2 lo/);
      screen.close();
      const left = (await cloud.instance(instance.id)).ports;
      expect(left.map((p) => p.id)).toEqual([running.ports[1]?.id, asked.portId]);

      const shown = await cloud.api.ok('GET', `/instances/${instance.id}/guest-data`);
      expect(shown.hostname).toBe(running.hostname);
      expect(shown.files.map((f) => f.path)).toEqual([
        'openstack/latest/meta_data.json',
        'openstack/latest/network_data.json',
        'openstack/latest/vendor_data.json',
        'openstack/latest/user_data',
        'ec2/latest/meta-data.json',
      ]);
      expect(JSON.parse(shown.files[1]?.text ?? '')).toMatchObject({
        links: left.map((p) => ({ ethernet_mac_address: p.mac })),
      });
      expect(shown.files[3]).toEqual({ path: 'openstack/latest/user_data', bytes: 7, text: null });

      expect(await exists(driveOf(running))).toBe(true);
      const stop = await cloud.api.ok('POST', `/instances/${instance.id}/actions/stop`, {});
      await cloud.settled(stop.taskId);
      expect(await exists(driveOf(running))).toBe(false);
      const start = await cloud.api.ok('POST', `/instances/${instance.id}/actions/start`);
      await cloud.settled(start.taskId);
      expect(await exists(driveOf(running))).toBe(true);
      const again = await cloud.console(instance.id);
      // What it said before its stop is shown too: only what is asked now tells of now.
      await again.ask(
        'echo "again" $(cat /sys/class/net/eth?/address)',
        new RegExp(`again ${left.map((p) => p.mac).join(' ')}\\s`),
      );
      again.close();
      const gone = await cloud.api.ok('DELETE', `/instances/${instance.id}`);
      await cloud.settled(gone.taskId);
      expect(await exists(driveOf(running))).toBe(false);
    },
    4 * minutes,
  );

  it(
    'its power button again, when it was still booting at the first press',
    async () => {
      const { instance, taskId } = await cloud.create('early');
      await cloud.settled(taskId);
      const stop = await cloud.api.ok('POST', `/instances/${instance.id}/actions/stop`, {
        graceSeconds: 120,
      });
      await cloud.settled(stop.taskId, 'succeeded', 150_000);
      expect(await cloud.instance(instance.id)).toMatchObject({ state: 'stopped', stateReason: 'stopped on request' });
    },
    4 * minutes,
  );
});
