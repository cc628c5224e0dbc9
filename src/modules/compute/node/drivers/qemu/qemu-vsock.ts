import { randomInt } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../../../../../core/host/files/replace-file';
import { findProgram } from '../../../../../core/host/processes/find-program';
import { deviceFd } from '../../../../../core/host/sandbox/launcher-messages';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import { noVsock, type VmHandle, type VmSpec } from '../vmm-driver';
import { hasDevice, says } from './qemu-devices';
import { vsockProgram } from './qemu-vsock-dial';

/**
 * The kernel's own end of vsock. Whoever starts a VMM opens it, so that the VMM has it by a descriptor: neither the node nor
 * a right to it is in its sandbox.
 */
export const vhostVsock = '/dev/vhost-vsock';
const driver = 'vhost-vsock-pci';

/** Of the run folder. */
const claimFile = 'vsock.json';
const claim = z.object({ cid: z.int().positive() });

/** Numbers that a guest is asked to have, one after the other, until one is free on this host. */
const attempts = 4;
/** Above those of instances' users, and below those that are nobody's. */
const others = { first: 0xc0000000, end: 0xffff0000 };

/** Opened, the kernel loads the module of a node that only promises it. */
const opens = async (path: string): Promise<boolean> => {
  const node = await open(path, constants.O_RDWR).catch(() => null);
  await node?.close();
  return node !== null;
};

/** Whether machines of this QEMU can have a vsock here: the kernel's part of it, the device, and what carries streams. */
export const hasVsock = async (qemu: string): Promise<boolean> => {
  const carrier = findProgram(vsockProgram);
  if (carrier === null || !(await opens(vhostVsock))) return false;
  const [knows, device] = await Promise.all([says(carrier, ['-V']), hasDevice(qemu, driver)]);
  return knows.includes('WITH_VSOCK') && device;
};

/** The device may have gone since it was found. Throws a permanent `VerbFailure` `no_such_machine`. */
export const checkVsock = async ({ machine }: VmSpec): Promise<void> => {
  if (machine?.vsock === true && !(await opens(vhostVsock)))
    throw new VerbFailure('no_such_machine', `The instance has a vsock, and this host has no ${vhostVsock}.`, true);
};

const device = (cid: number): string =>
  JSON.stringify({
    driver,
    id: 'vsock',
    bus: 'pcie.0',
    addr: '0x18',
    'guest-cid': cid,
    vhostfd: String(deviceFd),
  });

/** In a slot of its own, as all that some machines have and others have not. */
export const vsockArguments = (cid: number): string[] => ['-device', device(cid)];

/** The command line of a suspended machine, whose number another may have by now: a guest asks for its own again. */
export const withCid = (args: readonly string[], cid: number | null): string[] =>
  args.map((arg) => (cid !== null && arg.startsWith(`{"driver":"${driver}"`) ? device(cid) : arg));

/** What a start gives to the VMM. */
export const vsockDevice = ({ machine }: VmSpec): { deviceFile?: string } =>
  machine?.vsock === true ? { deviceFile: vhostVsock } : {};

/**
 * Runs `start` with a number for the guest's vsock, null where it has none. Numbers are the whole host's, whoever gives
 * them: the first is the one of the instance's user, which is no other instance's of this agent, and where something else
 * has that one (`vsock_cid_taken`) it is one by chance.
 */
export const withOwnCid = async <T>(
  { machine, user }: VmSpec,
  start: (cid: number | null) => Promise<T>,
): Promise<T> => {
  if (machine?.vsock !== true) return start(null);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(attempt === 1 && user > 2 ? user : randomInt(others.first, others.end));
    } catch (error) {
      const taken = error instanceof VerbFailure && error.code === 'vsock_cid_taken';
      if (!taken || attempt === attempts) throw error;
    }
  }
};

/**
 * Notes the number before the VMM has it: the kernel gives it to nobody else while that VMM runs. What a VMM says of its
 * own number is not asked, for its guest may have taken it over.
 */
export const noteCid = ({ runDir }: VmSpec, cid: number): Promise<void> =>
  replaceFile(join(runDir, claimFile), JSON.stringify({ cid }), { durable: false });

/** The number of a machine that runs. Throws `VerbFailure` `no_vsock`. */
export const notedCid = async ({ runDir }: Pick<VmHandle, 'runDir'>): Promise<number> => {
  const noted = await readFile(join(runDir, claimFile), 'utf8').catch(() => {
    throw noVsock();
  });
  return claim.parse(JSON.parse(noted)).cid;
};

/** Its VMM is gone, and the number is free again. */
export const forgetCid = ({ runDir }: Pick<VmHandle, 'runDir'>): Promise<void> =>
  rm(join(runDir, claimFile), { force: true });
