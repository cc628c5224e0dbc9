import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BodyOf } from '../../src/rest/rest-call';
import type { Instance } from '../../src/modules/compute/contract/compute.api';
import type { DriveForm } from '../../src/modules/network/contract/drive-forms';
import { hostHash, networkNetns } from '../../src/modules/network/node/drivers/linux/names';
import { TestCloud } from '../support/cloud';
import {
  debianImage,
  debianKernel,
  DebianGuest,
  soundQemu,
  type Firmware,
  type GuestFacts,
  type Suite,
} from './debian-guest';
import { runsOnce } from './user-data';

const minutes = 60_000;
const gib = 2 ** 30;
/** A whole Debian under software emulation, on a machine that others use too. */
const bootMs = 12 * minutes;
/**
 * One distribution boots in every check; all of them with VC_STACK_TEST_LONG=1 (`bin/check --long`). One card by the
 * one firmware and the config drive by the other, for neither depends on it.
 */
const long = process.env['VC_STACK_TEST_LONG'] === '1';
/** Vendor data before the user's, as cloud-init has it. */
const everyScript = ['image', 'flavor', 'runcmd', 'script'];
const matrix: { suite: Suite; firmware: Firmware; now: boolean; oneCard: boolean; drive: DriveForm | null }[] = [
  { suite: 'trixie', firmware: 'uefi', now: true, oneCard: long, drive: null },
  { suite: 'trixie', firmware: 'bios', now: long, oneCard: false, drive: 'openstack' },
  { suite: 'bookworm', firmware: 'uefi', now: long, oneCard: long, drive: null },
  { suite: 'bookworm', firmware: 'bios', now: long, oneCard: false, drive: 'nocloud' },
];
const when = (so: boolean): typeof it => (so ? it : it.skip);

describe('Debian, as it is installed from its archive', () => {
  let cloud: TestCloud;
  let keys: string;

  beforeAll(async () => {
    cloud = await TestCloud.start('deb', { computeEnv: { VC_STACK_MODULES__COMPUTE__QEMU__BINARY: soundQemu() } });
    // A login's token ends after a quarter of an hour; all distributions take longer.
    cloud.api.token = (await cloud.api.ok('POST', '/api-tokens', { name: 'all-distributions' })).token;
    keys = mkdtempSync('/tmp/vcs-keys-');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(keys, 'id')]);
    await cloud.api.ok('POST', '/flavors', {
      name: 'debian',
      vcpus: 2,
      memoryBytes: gib,
      diskBytes: 4 * gib,
      vendorData: '#!/bin/sh\necho flavor >> /var/lib/t-runs\n',
    });
    for (const [name, subnet] of [
      ['front', '10.20.0.0/24'],
      ['back', '10.30.0.0/24'],
    ] as const)
      await cloud.api.ok('POST', '/networks?project=default', { name, subnet });
  }, 10 * minutes);
  afterAll(async () => {
    await cloud?.close();
    if (keys) rmSync(keys, { recursive: true, force: true });
  }, 2 * minutes);

  const upload = async (suite: Suite, firmware: Firmware): Promise<string> => {
    const name = `${suite}-${firmware}`;
    const { id } = await cloud.api.ok('POST', '/images?project=default', {
      name,
      firmware,
      vendorData: '#!/bin/sh\necho image >> /var/lib/t-runs\n',
    });
    await cloud.api.ok('PUT', `/images/${id}/content`, readFileSync(debianImage(suite)));
    return name;
  };
  const create = async (
    name: string,
    image: string,
    networks: string[],
    more: Partial<BodyOf<'post', '/instances'>> = {},
  ): Promise<Instance> => {
    const publicKey = readFileSync(join(keys, 'id.pub'), 'utf8').trim();
    const { instance, taskId } = await cloud.create(name, {
      flavor: 'debian',
      image,
      networks: networks.map((network) => ({ network })),
      sshKeys: [publicKey],
      userData: runsOnce,
      stopGraceSeconds: 120,
      ...more,
    });
    await cloud.settled(taskId, 'succeeded', 4 * minutes);
    return cloud.instance(instance.id);
  };
  const guestOf = (instance: Instance): DebianGuest => {
    const [first] = instance.ports;
    return new DebianGuest(
      networkNetns(hostHash(instance.host?.id ?? ''), first?.networkId ?? ''),
      first?.address ?? '',
      join(keys, 'id'),
    );
  };
  /** What a guest shows once it has booted; with the end of its console when it does not. */
  const facts = async (instance: Instance): Promise<GuestFacts> => {
    const screen = await cloud.console(instance.id);
    try {
      return await guestOf(instance).booted(bootMs);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${screen.text.slice(-4000)}`);
    } finally {
      screen.close();
    }
  };
  const act = async (instance: Instance, action: 'stop' | 'reboot' | 'pause' | 'suspend' | 'resume'): Promise<void> => {
    const { taskId } = await cloud.api.ok('POST', `/instances/${instance.id}/actions/${action}?project=default`, {});
    await cloud.settled(taskId, 'succeeded', 4 * minutes);
  };
  const remove = async (instance: Instance): Promise<void> => {
    await cloud.settled((await cloud.api.ok('DELETE', `/instances/${instance.id}`)).taskId);
  };

  it('has a host against whose QEMU nothing is known', async () => {
    const { conditions } = await cloud.api.ok('GET', '/hosts/h1');
    expect(conditions).toContainEqual(expect.objectContaining({ type: 'VmmSound', status: 'true' }));
  });

  for (const { suite, firmware, now, oneCard, drive } of matrix) {
    describe(`${suite} by ${firmware}`, () => {
      let image: string;
      let instance: Instance;
      let first: GuestFacts;
      beforeAll(async () => (image = await upload(suite, firmware)), 10 * minutes);

      when(now)(
        'comes up with name, keys, user data, its whole disk and both cards',
        async () => {
          instance = await create(`Web ${suite}`, image, ['front', 'back']);
          first = await facts(instance);
          const [front, back] = instance.ports;
          expect(first).toMatchObject({
            hostname: `web-${suite}`,
            cloudInit: { datasource: expect.stringContaining('OpenStack'), errors: [] },
            instanceId: instance.id,
            firmware,
            defaultRoutes: ['10.20.0.1'],
            addresses: { [front?.mac ?? '']: [`${front?.address}/24`], [back?.mac ?? '']: [`${back?.address}/24`] },
            mtu: { [front?.mac ?? '']: 1450, [back?.mac ?? '']: 1450 },
            runs: everyScript,
          });
          expect(first.rootBytes).toBeGreaterThan(3.5 * gib);
          expect((await cloud.api.ok('GET', '/hosts/h1')).conditions).toContainEqual(
            expect.objectContaining({ type: 'GuestEgress', status: 'true' }),
          );
        },
        15 * minutes,
      );

      when(now)(
        'has the time again when it goes on, however long it stood still',
        async () => {
          const guest = guestOf(instance);
          for (const still of ['pause', 'suspend'] as const) {
            await guest.sh("sudo date --set='1 hour ago' > /dev/null");
            await act(instance, still);
            await act(instance, 'resume');
            const before = Date.now();
            const its = Number(await guest.sh('date +%s')) * 1000;
            expect(its).toBeGreaterThan(before - 3000);
            expect(its).toBeLessThan(Date.now() + 3000);
          }
        },
        10 * minutes,
      );

      when(now)(
        'shuts down at its power button, boots again as the same, and runs nothing twice',
        async () => {
          await act(instance, 'reboot');
          const again = await facts(instance);
          expect(again.bootId).not.toBe(first.bootId);
          expect({ ...again, bootId: '' }).toEqual({ ...first, bootId: '' });
          await act(instance, 'stop');
          expect(await cloud.instance(instance.id)).toMatchObject({
            state: 'stopped',
            stateReason: 'stopped on request',
          });
          await remove(instance);
        },
        15 * minutes,
      );

      when(oneCard)(
        'comes up with one card',
        async () => {
          const single = await create(`Single ${suite}`, image, ['back']);
          const [port] = single.ports;
          expect(await facts(single)).toMatchObject({
            hostname: `single-${suite}`,
            instanceId: single.id,
            defaultRoutes: ['10.30.0.1'],
            addresses: { [port?.mac ?? '']: [`${port?.address}/24`] },
            runs: everyScript,
          });
          await remove(single);
        },
        15 * minutes,
      );

      when(long && drive !== null)(
        'comes up from a config drive, with both cards',
        async () => {
          const driven = await create(`Drive ${suite}`, image, ['front', 'back'], { configDrive: drive });
          const [front, back] = driven.ports;
          expect(await facts(driven)).toMatchObject({
            hostname: `drive-${suite}`,
            cloudInit: {
              datasource: expect.stringContaining(drive === 'nocloud' ? 'NoCloud' : 'ConfigDrive'),
              errors: [],
            },
            instanceId: driven.id,
            addresses: { [front?.mac ?? '']: [`${front?.address}/24`], [back?.mac ?? '']: [`${back?.address}/24`] },
            runs: everyScript,
          });
          await remove(driven);
        },
        15 * minutes,
      );
    });
  }

  when(long)(
    'comes up by its own kernel and initramfs without any boot loader, is rebooted, and grows its disk',
    async () => {
      const { kernel, initramfs, commandLine } = debianKernel('trixie');
      const { id } = await cloud.api.ok('POST', '/images?project=default', { name: 'direct', kernel: { commandLine } });
      await cloud.api.ok('PUT', `/images/${id}/kernel`, kernel);
      await cloud.api.ok('PUT', `/images/${id}/initramfs`, initramfs);
      await cloud.api.ok('PUT', `/images/${id}/content`, readFileSync(debianImage('trixie')));
      const instance = await create('Direct', 'direct', ['front']);
      const wanted = {
        hostname: 'direct',
        cloudInit: { errors: [] },
        instanceId: instance.id,
        firmware: 'bios',
        runs: ['flavor', 'runcmd', 'script'],
      };
      const first = await facts(instance);
      expect(first).toMatchObject(wanted);
      expect(first.rootBytes).toBeGreaterThan(3.5 * gib);
      expect(await guestOf(instance).sh('cat /proc/cmdline')).toBe(commandLine);
      await act(instance, 'reboot');
      const again = await facts(instance);
      expect(again.bootId).not.toBe(first.bootId);
      expect(again).toMatchObject(wanted);
      await remove(instance);
    },
    20 * minutes,
  );

  it('leaves nothing behind', () => expect(cloud.leftovers()).toEqual([]));
});
