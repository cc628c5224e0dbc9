import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findUefi } from '../../src/modules/compute/node/drivers/qemu/uefi-firmware';
import { guestImage } from '../../test/support/cloud';
import { sh } from '../../test/support/namespaces';
import type { Figure, Row } from '../harness/figure';
import type { Lab } from '../harness/lab';
import { median } from '../harness/statistics';

const rounds = 5;
const limitMs = 120_000;
const binary = 'qemu-system-x86_64';
/** The first words of the guest's own first process. */
const mark = '@@ guest-up';
/** Where the boot partition of the test guest begins (test/guest/build-guest). */
const partition = '1M';

interface Kernel {
  kernel: string;
  initrd: string;
  cmdline: string;
}

/** The kernel that the image brings, as files, and how its boot loader starts it. */
const unpack = (image: string, directory: string): Kernel => {
  const take = (name: string): string => {
    const path = join(directory, name.replaceAll('/', '-'));
    sh('mcopy', '-o', '-i', `${image}@@${partition}`, `::/${name}`, path);
    return path;
  };
  const entry = readFileSync(take('loader/entries/linux.conf'), 'utf8');
  return {
    kernel: take('vmlinuz'),
    initrd: take('initrd.gz'),
    cmdline: /^options (.*)$/m.exec(entry)?.[1] ?? '',
  };
};

/** Milliseconds from QEMU's start to the guest's first process. */
const boot = async (directory: string, args: readonly string[]): Promise<number> => {
  mkdirSync(directory);
  const log = join(directory, 'serial');
  const from = performance.now();
  const child = spawn(binary, [...args, '-serial', `file:${log}`], { stdio: 'ignore' });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  try {
    for (;;) {
      const said = existsSync(log) ? readFileSync(log, 'utf8') : '';
      if (said.includes(mark)) return performance.now() - from;
      if (child.exitCode !== null || performance.now() - from > limitMs)
        throw new Error(`the guest did not come up: ${said.slice(-500)}`);
      await delay(5);
    }
  } finally {
    child.kill('SIGKILL');
    await gone;
  }
};

/** How the same guest comes up on other machines and by other ways, in software emulation, by QEMU alone. */
export const bootWays: Figure = {
  name: 'boot',
  limitMinutes: 8,
  async run(lab: Lab): Promise<Row[]> {
    const image = guestImage();
    const { kernel, initrd, cmdline } = unpack(image, lab.directory);
    const uefi = await findUefi();
    const common = ['-accel', 'tcg,tb-size=128', '-cpu', 'max', '-m', '192', '-nodefaults', '-no-user-config'];
    const quiet = ['-display', 'none', '-no-reboot'];
    const direct = ['-kernel', kernel, '-initrd', initrd, '-append', cmdline];
    const q35 = ['-M', 'q35,usb=off,smm=off,sata=off,smbus=off,hpet=off', ...common, ...quiet];
    const disk = ['-drive', `file=${image},format=raw,if=virtio,snapshot=on`];
    const ways: Record<string, (directory: string) => string[]> = {
      microvm: () => ['-M', 'microvm,acpi=off', ...common, ...quiet, ...direct],
      'q35, direct kernel': () => [...q35, ...direct],
      'q35, BIOS': () => [...q35, ...disk],
    };
    // The image boots by BIOS only: a UEFI is given its kernel.
    if (uefi)
      ways['q35, direct kernel by UEFI'] = (directory) => {
        const variables = `${directory}-vars.fd`;
        copyFileSync(uefi.variables, variables);
        return [
          ...q35,
          ...direct,
          ...['-drive', `if=pflash,format=raw,unit=0,readonly=on,file=${uefi.code}`],
          ...['-drive', `if=pflash,format=raw,unit=1,file=${variables}`],
        ];
      };
    const took = new Map<string, number[]>();
    // Side by side: what else the machine does falls on all alike. The first round only fills caches.
    for (let round = 0; round <= rounds; round += 1)
      for (const [way, args] of Object.entries(ways)) {
        const directory = join(lab.directory, `${way.replaceAll(/\W+/g, '-')}-${round}`);
        const ms = await boot(directory, args(directory));
        if (round > 0) took.set(way, [...(took.get(way) ?? []), ms]);
      }
    const seconds = (way: string): number => median(took.get(way) ?? []) / 1000;
    const row = (figure: string, ours: string, reference: string): Row => ({
      figure,
      ours: seconds(ours),
      reference: seconds(reference),
      unit: 's',
      note: `from QEMU's start to the guest's first process, software emulation; reference: ${reference}`,
    });
    return [
      row('boot, microvm', 'microvm', 'q35, direct kernel'),
      row('boot, direct kernel', 'q35, direct kernel', 'q35, BIOS'),
      ...(uefi ? [row('boot, direct kernel by UEFI', 'q35, direct kernel by UEFI', 'q35, direct kernel')] : []),
    ];
  },
};
