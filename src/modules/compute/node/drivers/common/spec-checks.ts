import { access, constants, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { exec, ExecError } from '../../../../../core/host/processes/exec';
import { together } from '../../../../../core/host/together';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import { givesModel, memoryRefusal, modelInWords } from '../../../contract/hardware';
import { capabilitiesFor } from '../../../contract/machine-options';
import { mostShares, shareNamePattern } from '../../../contract/shares';
import { capabilityInWords } from '../../../contract/vmm-capabilities';
import type { Firmware, VmCpus, VmDisk, VmKernel, VmNic, VmSpec } from '../vmm-driver';
import { shareSocket } from './virtiofsd';
import { socketFolder } from './vmm-files';

/** Linux: 108 bytes with the terminating zero. */
const longestSocketPath = 107;
const netnsPattern = /^[A-Za-z0-9._-]{1,255}$/;
const devicePattern = /^[A-Za-z0-9._-]{1,15}$/;
const macPattern = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i;
const idPattern = /^[A-Za-z0-9-]{1,64}$/;
const mebibyte = 1024 * 1024;

const refuse = (message: string): never => {
  throw new VerbFailure('invalid_spec', message, true);
};

/** What every VMM needs of a spec, whatever it is. Throws a permanent `VerbFailure` `invalid_spec`. Touches nothing. */
export const checkSpec = (spec: VmSpec, sockets: readonly string[]): void => {
  if (!idPattern.test(spec.instanceId)) refuse(`"${spec.instanceId.slice(0, 64)}" is not an instance id`);
  if (!Number.isInteger(spec.vcpus) || spec.vcpus < 1 || spec.vcpus > 1024)
    refuse(`${spec.vcpus} vCPUs are not possible`);
  if (spec.memoryBytes < 16 * mebibyte || spec.memoryBytes % mebibyte !== 0)
    refuse(`${spec.memoryBytes} bytes of memory: a multiple of 1 MiB, at least 16 MiB, is needed`);
  checkMemory(spec);
  if (spec.netns !== null && !netnsPattern.test(spec.netns))
    refuse(`"${spec.netns.slice(0, 64)}" is not a network namespace`);
  if (!isAbsolute(spec.runDir) || !isAbsolute(spec.logDir)) refuse('run and log folders must be absolute paths');
  for (const socket of sockets) {
    const length = Buffer.byteLength(join(socketFolder(spec), socket));
    if (length > longestSocketPath)
      refuse(`the path of ${socket} under ${spec.runDir} has ${length} bytes; Unix sockets allow ${longestSocketPath}`);
  }
  if (!Number.isInteger(spec.user) || spec.user < 1) refuse('a VMM does not run as root');
  if (spec.kernel) checkKernel(spec.kernel, spec);
  if (spec.cpus) checkCpus(spec.cpus, spec);
  checkShares(spec);
  const ids = new Set<string>();
  for (const disk of spec.disks) {
    checkDisk(disk);
    if (ids.has(disk.id)) refuse(`disk id "${disk.id}" is not unique`);
    ids.add(disk.id);
  }
  for (const nic of spec.nics) {
    if (ids.has(nic.id)) refuse(`NIC id "${nic.id}" is not unique`);
    ids.add(nic.id);
    checkNic(nic);
  }
};

const checkMemory = ({ memoryBytes, max, hardware = {} }: VmSpec): void => {
  const refused = memoryRefusal(memoryBytes, hardware.pageSize);
  if (refused !== undefined) refuse(refused);
  if (hardware.pageSize !== undefined && (max?.memoryBytes ?? 0) > memoryBytes)
    refuse('memory of huge pages does not grow while the machine runs');
};

/** What is its own does not change while it runs: there is one CPU for each vCPU, and the memory of a node is bound to it. */
const checkCpus = ({ own, process, nodes }: VmCpus, spec: VmSpec): void => {
  if (process.length === 0) refuse('there is no CPU of the host that it may run on');
  if (own === null) return;
  const most = Math.max(spec.vcpus, spec.max?.vcpus ?? 0);
  if (own.length !== most || new Set(own).size !== most)
    refuse(`${own.length} CPUs of its own are not one for each of ${most} vCPUs`);
  if (!nodes) return;
  const sum = (of: (node: NonNullable<typeof nodes>[number]) => number): number =>
    nodes.reduce((all, node) => all + of(node), 0);
  if (sum(({ vcpus }) => vcpus) !== spec.vcpus || new Set(nodes.map(({ vcpus }) => vcpus)).size > 1)
    refuse('its vCPUs are not spread evenly over its NUMA nodes');
  if (sum(({ memoryBytes }) => memoryBytes) !== spec.memoryBytes) refuse('its NUMA nodes have not all of its memory');
  if (nodes.some(({ memoryBytes }) => memoryBytes % mebibyte !== 0))
    refuse('the memory of a NUMA node is no whole number of MiB');
  if ((spec.max?.memoryBytes ?? 0) > spec.memoryBytes) refuse('memory that is bound to NUMA nodes does not grow');
};

const checkShares = ({ shares = [], hardware, runDir }: VmSpec): void => {
  if (shares.length === 0) return;
  if (shares.length > mostShares) refuse(`${shares.length} shares: ${mostShares} are possible`);
  if (hardware?.sharedMemory !== true) refuse('shares need memory that is shared');
  if (new Set(shares.map(({ tag }) => tag)).size < shares.length) refuse('two shares have one name');
  for (const [index, { tag, path, user }] of shares.entries()) {
    if (!shareNamePattern.test(tag)) refuse(`"${tag.slice(0, 64)}" is not the name of a share`);
    if (!isAbsolute(path)) refuse(`share ${tag} has no absolute path`);
    if (!Number.isInteger(user) || user < 1) refuse(`share ${tag} would be given out by root`);
    const length = Buffer.byteLength(shareSocket({ runDir }, index));
    if (length > longestSocketPath)
      refuse(`the path of a socket under ${runDir} has ${length} bytes; Unix sockets allow ${longestSocketPath}`);
  }
};

/** Printable ASCII, which no VMM and no kernel takes for anything else, and no more than Linux keeps of it. */
const commandLinePattern = /^[\x20-\x7e]{0,2047}$/;

const checkKernel = ({ path, initramfs, commandLine }: VmKernel, { firmware, machine }: VmSpec): void => {
  if (!isAbsolute(path) || (initramfs !== null && !isAbsolute(initramfs))) refuse('the kernel has no absolute path');
  if (!commandLinePattern.test(commandLine)) refuse('the command line of the kernel is too long, or not printable');
  if (firmware !== undefined || machine?.secureBoot === true)
    refuse('a kernel is booted without a firmware, and so without Secure Boot');
};

/** The files of its kernel must be there, and not for root alone. Throws `kernel_missing`. */
export const checkKernelFiles = async ({ kernel }: VmSpec): Promise<void> => {
  if (!kernel) return;
  await together(checkBootFile('kernel', kernel.path), checkInitramfs(kernel.initramfs));
};
const checkInitramfs = (path: string | null): Promise<void> =>
  path === null ? Promise.resolve() : checkBootFile('kernel', path);

/** Files of its kernel, which the VMM reads. */
export const kernelFiles = ({ kernel }: VmSpec): string[] =>
  kernel ? [kernel.path, ...(kernel.initramfs === null ? [] : [kernel.initramfs])] : [];

/** As `checkSpec`, of one disk. */
export const checkDisk = (disk: VmDisk): void => {
  if (!isAbsolute(disk.path)) refuse(`disk ${disk.id.slice(0, 64)} has no absolute path`);
  if (!idPattern.test(disk.id)) refuse(`disk id "${disk.id.slice(0, 64)}" is not acceptable`);
};

/** As `checkSpec`, of one card. */
export const checkNic = (nic: VmNic): void => {
  if (!idPattern.test(nic.id)) refuse(`NIC id "${nic.id.slice(0, 64)}" is not acceptable`);
  if (!devicePattern.test(nic.tap)) refuse(`"${nic.tap}" is not a tap device`);
  if (!macPattern.test(nic.mac)) refuse(`"${nic.mac}" is not a MAC address`);
};

/**
 * Throws a permanent `VerbFailure` `no_such_firmware` when the disk wants another firmware than the VMM has on this
 * host.
 */
export const checkFirmware = (spec: VmSpec, has: readonly Firmware[], vmm: string): void => {
  if (spec.firmware === undefined || has.includes(spec.firmware)) return;
  throw new VerbFailure(
    'no_such_firmware',
    `The image boots by ${spec.firmware === 'uefi' ? 'UEFI' : 'BIOS'}, which ${vmm} does not have on this host.`,
    true,
  );
};

/** Of a host that cannot make a machine with all of these. */
export const noSuchMachine = (wanted: readonly string[], who: string): VerbFailure =>
  new VerbFailure(
    'no_such_machine',
    `The instance asks for ${wanted.map(capabilityInWords).join(' and ')}, which ${who}.`,
    true,
  );

/** Throws a permanent `VerbFailure` `no_such_machine` when the VMM cannot do on this host what is asked of it. */
export const checkMachine = (spec: VmSpec, has: readonly string[], vmm: string): void => {
  const missing = capabilitiesFor(spec).filter((one) => !has.includes(one));
  if (missing.length > 0) throw noSuchMachine(missing, `${vmm} does not have on this host`);
  if (spec.machine?.balloon === true && spec.hardware?.pageSize !== undefined)
    throw noSuchMachine(['balloon', 'huge-pages'], 'do not go together');
};

/** As `checkMachine`, of the model of its vCPUs. */
export const checkCpuModel = (
  { hardware = {} }: Pick<VmSpec, 'hardware'>,
  has: { cpuModels: readonly string[] },
  vmm: string,
): void => {
  if (!givesModel(has, hardware))
    throw noSuchMachine([modelInWords(hardware)], `${vmm} cannot give whole on this host`);
};

/** What boots the guest must be there, and not for root alone. Throws `firmware_missing` or `kernel_missing`. */
export const checkBootFile = async (what: 'firmware' | 'kernel', path: string): Promise<void> => {
  const mode = await stat(path).then(
    (found) => found.mode,
    () => null,
  );
  if (mode !== null && (mode & 0o004) !== 0) return;
  throw new VerbFailure(
    `${what}_missing`,
    `The ${what} cannot be read on this host.`,
    true,
    {},
    { detail: mode === null ? `${path} is not there` : `only root may read ${path}: chmod a+r` },
  );
};

/**
 * Disks and taps must be there before a VMM is started: some VMMs would make a missing tap themselves. Throws
 * `disk_missing` or `tap_missing`.
 */
export const checkResources = async (spec: VmSpec): Promise<void> => {
  await together(...spec.disks.map(checkDiskFile), ...spec.nics.map((nic) => checkTap(nic, spec.netns)));
};

/** The disk must be there. Throws `disk_missing`. */
export const checkDiskFile = async (disk: VmDisk): Promise<void> => {
  await access(disk.path, disk.readonly ? constants.R_OK : constants.R_OK | constants.W_OK).catch((error: unknown) => {
    throw new VerbFailure(
      'disk_missing',
      'A disk cannot be opened.',
      true,
      { disk: disk.id },
      { cause: error, detail: (error as Error).message },
    );
  });
};

/** The card's tap must be there, for some VMMs would make one themselves. Throws `tap_missing`. */
export const checkTap = async (nic: VmNic, netns: string | null): Promise<void> => {
  const where = netns === null ? [] : ['-n', netns];
  await exec('ip', [...where, 'link', 'show', 'dev', nic.tap], { timeoutMs: 5000 }).catch((error: unknown) => {
    if (!(error instanceof ExecError)) throw error;
    throw new VerbFailure(
      'tap_missing',
      'A NIC has no tap.',
      true,
      { nic: nic.id },
      { cause: error, detail: `${nic.tap}: ${error.stderr.trim()}` },
    );
  });
};
