import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { parseChVersion } from '../../../src/modules/compute/node/drivers/cloud-hypervisor/ch-version';
import type { VersionProfile } from '../../../src/modules/compute/node/drivers/simulated-vmm/profile';
import { pvhGuest } from './pvh-guest';

const can = (path: string, mode: number): boolean => {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
};

/** A real Cloud Hypervisor. */
export interface RealVmm {
  binary: string;
  /** The profile of its release, or of the nearest that is known. */
  profile: VersionProfile['name'];
}

/** The profile of the release that a program says it is, or of the nearest that is known. Null if it says none. */
const profileOf = (binary: string): VersionProfile['name'] | null => {
  const version = parseChVersion(spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout ?? '');
  if (version === null) return null;
  // Commits after a release are of the next one.
  const release = version.major + (version.distance > 0 ? 1 : 0);
  return release >= 54 ? 'v54' : release === 53 ? 'v53' : 'v50';
};

/**
 * The one that `VC_CLOUD_HYPERVISOR` names, or the one on the PATH, if it starts here: the first thing it does is to
 * open /dev/kvm. Null otherwise.
 */
export const realVmm = (): RealVmm | null => {
  const named = process.env['VC_CLOUD_HYPERVISOR'];
  const binary =
    named ??
    (process.env['PATH'] ?? '')
      .split(delimiter)
      .map((directory) => join(directory, 'cloud-hypervisor'))
      .find((path) => can(path, constants.X_OK));
  if (binary === undefined || !can('/dev/kvm', constants.R_OK | constants.W_OK)) return null;
  const profile = profileOf(binary);
  return profile === null ? null : { binary, profile };
};

/**
 * Whether its guests run, which an emulated KVM does not always let them. Blocks until the test guest has said
 * something, at most ten seconds.
 */
export const bootsGuests = ({ binary }: Pick<RealVmm, 'binary'>, guest = pvhGuest()): boolean => {
  const directory = mkdtempSync('/tmp/t-vmm-real-');
  const serial = join(directory, 'serial');
  const firmware = join(directory, 'guest');
  writeFileSync(firmware, guest);
  const child = spawn(
    binary,
    ['--firmware', firmware, '--serial', `file=${serial}`, '--console', 'off', '--memory', 'size=64M'],
    { stdio: 'ignore' },
  );
  const said = (): boolean => can(serial, constants.R_OK) && readFileSync(serial, 'utf8').includes('ready');
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const end = Date.now() + 10_000;
  while (!said() && Date.now() < end) Atomics.wait(pause, 0, 0, 50);
  const works = said();
  child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
  return works;
};
