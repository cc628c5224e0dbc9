import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { coreConfigSchema } from '../../src/core/config/core-config';
import { sandboxUsers } from '../../src/core/host/sandbox/sandbox-users';
import { probeDisk } from '../../src/modules/compute/node/drivers/qemu/probe-guest';
import { qemuArguments } from '../../src/modules/compute/node/drivers/qemu/qemu-arguments';
import { QemuDriver } from '../../src/modules/compute/node/drivers/qemu/qemu.driver';
import type { VmSpec } from '../../src/modules/compute/node/drivers/vmm-driver';
import type { Figure } from '../harness/figure';
import type { Lab } from '../harness/lab';
import { qemuByHand } from '../harness/qemu-by-hand';
import { median } from '../harness/statistics';

const rounds = 30;
const binary = 'qemu-system-x86_64';

const specOf = (directory: string, user: number): VmSpec => {
  mkdirSync(directory);
  const disk = join(directory, 'disk.raw');
  writeFileSync(disk, probeDisk());
  return {
    instanceId: randomUUID(),
    name: 'start',
    vcpus: 1,
    memoryBytes: 192 * 2 ** 20,
    disks: [{ id: 'root', path: disk, format: 'raw', readonly: false }],
    nics: [],
    netns: null,
    user,
    runDir: directory,
    logDir: directory,
  };
};

/** What it costs that a VMM is started without rights and shut in, with its cgroup, files and checks. */
export const vmmStart: Figure = {
  name: 'vmm start',
  limitMinutes: 3,
  async run(lab: Lab) {
    const users = sandboxUsers(coreConfigSchema.parse({}).sandbox);
    const driver = new QemuDriver(
      {
        binary,
        accel: 'tcg',
        cacheDir: lab.directory,
        sandbox: { trialUser: users.trial, tapGroup: users.taps, readOnlyPaths: [] },
      },
      pino({ enabled: false }),
    );
    const { capabilities } = await driver.probe();
    const screen = capabilities.includes('vnc');
    const ours: number[] = [];
    const reference: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const spec = specOf(join(lab.directory, `ours-${round}`), users.instances.first);
      const from = performance.now();
      const handle = await driver.start(spec);
      const took = performance.now() - from;
      await driver.kill(handle);
      const byHand = specOf(join(lab.directory, `hand-${round}`), 0);
      const alone = await qemuByHand(binary, qemuArguments(byHand, 'tcg', null, screen), byHand.runDir);
      lab.say(`${took.toFixed(0)} ms; by hand ${alone.toFixed(0)} ms`);
      // The first only fills caches.
      if (round === 0) continue;
      ours.push(took);
      reference.push(alone);
    }
    return [
      {
        figure: 'start of a VMM',
        ours: median(ours),
        reference: median(reference),
        unit: 'ms',
        note: 'aim: at most 1.1 times; until its monitor says that it runs; reference: the same QEMU by hand, as root and in the open',
      },
    ];
  },
};
