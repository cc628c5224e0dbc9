import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { qemuArguments } from '../../src/modules/compute/node/drivers/qemu/qemu-arguments';
import { guestImage, TestCloud } from '../../test/support/cloud';
import type { Figure } from '../harness/figure';
import type { Lab } from '../harness/lab';
import { median } from '../harness/statistics';

const rounds = 3;
const limitMs = 60_000;
const lease = /@@ lease /;

/** Resolves once the file shows the guest's lease. */
const leaseIn = async (file: string): Promise<void> => {
  const end = Date.now() + limitMs;
  for (;;) {
    if (existsSync(file) && lease.test(readFileSync(file, 'utf8'))) return;
    if (Date.now() > end)
      throw new Error(
        `no lease within ${limitMs / 1000} s: ${existsSync(file) ? readFileSync(file, 'utf8').slice(-500) : 'no console'}`,
      );
    await delay(10);
  }
};

/** The same machine without us: QEMU with the same options, a copy of the disk, and its own user-mode network. */
const plain = async (lab: Lab, image: string, round: number): Promise<number> => {
  const directory = join(lab.directory, `plain-${round}`);
  mkdirSync(directory);
  const disk = join(directory, 'disk.raw');
  copyFileSync(image, disk);
  const args = qemuArguments(
    {
      instanceId: randomUUID(),
      name: 'plain',
      vcpus: 1,
      memoryBytes: 192 * 2 ** 20,
      disks: [{ id: 'root', path: disk, format: 'raw', readonly: false }],
      nics: [{ id: 'net', tap: 'none', mac: '52:54:00:12:34:56', mtu: 1450 }],
      netns: null,
      user: 0,
      runDir: directory,
      logDir: directory,
    },
    'tcg',
    null,
    true,
  ).map((arg) =>
    arg.startsWith('tap,id=net0,')
      ? 'user,id=net0'
      : arg.startsWith('socket,id=serial,')
        ? `file,id=serial,path=${join(directory, 'serial.log')}`
        : arg,
  );
  const from = performance.now();
  const child = spawn('qemu-system-x86_64', args, { stdio: 'ignore' });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  try {
    await leaseIn(join(directory, 'serial.log'));
    return performance.now() - from;
  } finally {
    child.kill('SIGKILL');
    await gone;
  }
};

/**
 * From the request to the DHCP lease that the guest prints, with the image in the host's cache and QEMU emulating the
 * processor.
 */
export const realGuest: Figure = {
  name: 'real guest',
  limitMinutes: 8,
  async run(lab: Lab) {
    const image = guestImage();
    const cloud = await TestCloud.start('bguest', {
      hosts: ['h1'],
      computeEnv: { VC_STACK_MODULES__COMPUTE__ACCEL: 'tcg', VC_STACK_MODULES__COMPUTE__DRIVERS: '[qemu]' },
    });
    lab.defer(() => cloud.close());
    await cloud.furnish();
    const ours: number[] = [];
    const vmm: number[] = [];
    const reference: number[] = [];
    // The first round only fills caches: the host's image, the page cache.
    for (let round = 0; round <= rounds; round += 1) {
      const from = performance.now();
      const { instance, taskId } = await cloud.create(`guest-${round}`);
      await leaseIn(join(cloud.stateOf('h1'), 'instances', instance.id, 'console.log'));
      const took = performance.now() - from;
      const task = await cloud.settled(taskId);
      const step = task.steps.find((s) => s.name === 'start-vmm');
      const before = Date.parse(step?.startedAt ?? '') - Date.parse(task.createdAt);
      const removal = await cloud.api.ok('DELETE', `/instances/${instance.id}?project=default`);
      await cloud.settled(removal.taskId);
      const alone = await plain(lab, image, round);
      lab.say(`${took.toFixed(0)} ms, ${before} ms of it until the VMM's step; plain QEMU ${alone.toFixed(0)} ms`);
      if (round === 0) continue;
      ours.push(took / 1000);
      vmm.push(before / 1000);
      reference.push(alone / 1000);
    }
    return [
      {
        figure: 'real guest, request to DHCP lease',
        ours: median(ours),
        reference: median(reference),
        unit: 's',
        note: 'aim: at most 10 s; software emulation, image cached; reference: plain QEMU, same image and machine, from its start to its lease',
      },
      {
        figure: 'real guest, until its VMM is started',
        ours: median(vmm),
        reference: Math.max(0.001, median(ours) - median(reference)),
        unit: 's',
        note: 'aim: at most 1 s; reference: the whole difference to plain QEMU',
      },
    ];
  },
};
