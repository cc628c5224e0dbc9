import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { exec, ExecError } from '../../../../../core/host/processes/exec';
import { sandboxed } from '../../../../../core/host/sandbox/sandbox';
import type { Trial } from '../common/trial-cache';
import { inTrialPlace } from '../common/trial-place';
import type { VmmSandboxOptions } from '../common/vmm-sandbox';
import { qemuSockets, screenArguments } from './qemu-arguments';
import type { QemuAccel } from './qemu-cpus';

/** A machine that never begins to run is made in a tenth of a second. Milliseconds. */
const deadlineMs = 15_000;
const script = ['qmp_capabilities', 'query-vnc', 'quit'].map((execute) => JSON.stringify({ execute })).join('\n');

/** The line that says why, of what QEMU wrote to its standard error. */
const reasonIn = (stderr: string): string =>
  (stderr.split('\n').find((line) => line.startsWith('qemu-')) ?? stderr.trim().split('\n').at(-1) ?? '')
    .replace(/^qemu-[^:]*: /, '')
    .slice(0, 200);

/**
 * Whether this QEMU gives its machines a screen: VGA and VNC are parts that a build or a distribution's package may
 * leave out. A machine with one is made, shut in as an instance's is; its vCPUs never begin.
 */
export const tryScreen = (
  binary: string,
  accel: QemuAccel,
  cacheDir: string,
  { trialUser, readOnlyPaths }: VmmSandboxOptions,
): Promise<Trial> =>
  inTrialPlace(cacheDir, async (directory) => {
    const own = join(directory, 's');
    await mkdir(own, { mode: 0o700 });
    await chown(own, trialUser, trialUser);
    const [program, argv] = await sandboxed(
      binary,
      [
        ...['-machine', 'q35', '-accel', accel, '-m', '16', '-S', '-nodefaults', '-no-user-config', '-display', 'none'],
        ...screenArguments(join(own, qemuSockets.vnc)),
        ...['-qmp', 'stdio'],
      ],
      {
        user: trialUser,
        readOnly: readOnlyPaths,
        writable: [own],
        devices: ['/dev/kvm'],
        network: 'none',
        bound: true,
      },
    );
    return exec(program, argv, { input: `${script}\n`, timeoutMs: deadlineMs }).then(
      ({ stdout }) =>
        /"enabled": ?true/.test(stdout)
          ? { works: true, reason: '' }
          : { works: false, reason: 'its VNC server does not say that it is there' },
      (error: unknown) => {
        if (!(error instanceof ExecError)) throw error;
        return { works: false, reason: reasonIn(error.stderr) || error.message.slice(0, 200) };
      },
    );
  });
