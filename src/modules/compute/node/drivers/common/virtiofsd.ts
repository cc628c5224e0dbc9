import { readFileSync } from 'node:fs';
import { chown, lchown, lstat, mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { exec } from '../../../../../core/host/processes/exec';
import { findProgram } from '../../../../../core/host/processes/find-program';
import type { ProcessIdentity } from '../../../../../core/host/processes/process-identity';
import { endProcessesNaming } from '../../../../../core/host/processes/processes-naming';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import type { VmHandle, VmShare, VmSpec } from '../vmm-driver';
import type { Companion } from './companion';

/** Where distributions put it, which is on nobody's PATH. */
const usualPlaces = ['virtiofsd', '/usr/libexec/virtiofsd', '/usr/lib/qemu/virtiofsd'];
/** Files that one may have open: each that its guest knows of is one. Fewer where we may have fewer ourselves. */
const mostOpenFiles = 65_536;
const openFiles = (): number => {
  const hard = /^Max open files +\S+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return hard === undefined ? mostOpenFiles : Math.min(mostOpenFiles, Number(hard));
};
/** Folders of their sockets, in the run folder; short, for the sake of Unix sockets. */
const folderName = 'f';
const socketName = 's';

/**
 * Whether this is what a virtiofsd says that runs without rights: the one in Rust, from 1.10 on. That of QEMU before 8.0
 * (`virtiofsd version 7.2 ...`) wants to be root.
 */
export const isSoundVirtiofsd = (said: string): boolean => {
  const [, major, minor] = /^virtiofsd (\d+)\.(\d+)/.exec(said) ?? [];
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 10);
};

/** Path of a virtiofsd that can be used; null when there is none. @param configured name or path; empty: the usual places */
export const findVirtiofsd = async (configured: string): Promise<string | null> => {
  for (const place of configured === '' ? usualPlaces : [configured]) {
    const found = findProgram(place);
    if (found === null) continue;
    const said = await exec(found, ['--version'], { timeoutMs: 10_000 }).then(
      ({ stdout }) => stdout,
      () => '',
    );
    if (isSoundVirtiofsd(said)) return found;
  }
  return null;
};

const folderOf = ({ runDir }: Pick<VmHandle, 'runDir'>, index: number): string =>
  join(runDir, folderName, String(index));

/** Where the daemon of a share listens: in a folder of its own, which the VMM does not see. */
export const shareSocket = (of: Pick<VmHandle, 'runDir'>, index: number): string =>
  join(folderOf(of, index), socketName);

const changed = (detail: string): VerbFailure =>
  new VerbFailure('share_unusable', 'A share of the instance cannot be used on its host now.', false, {}, { detail });

/**
 * It listens. What it was given is looked at where it sees it, for a path may lead elsewhere by then; and from now on the
 * VMM may connect, and nobody but root may change what lies beside its socket.
 */
const handOver = async (spec: VmSpec, share: VmShare, index: number, process: ProcessIdentity): Promise<void> => {
  const seen = await stat(`/proc/${process.pid}/root${share.path}`).catch((error: unknown) => {
    throw changed((error as Error).message);
  });
  if (!seen.isDirectory() || seen.uid !== share.user)
    throw changed(`${share.path} is another directory than it was before`);
  await chown(folderOf(spec, index), 0, 0);
  const socket = shareSocket(spec, index);
  if (!(await lstat(socket)).isSocket()) throw changed(`${socket} is no socket`);
  await lchown(socket, spec.user, spec.user);
};

/**
 * A program beside the machine that gives its guest a directory of the host: as the owner of that directory, of which it sees
 * nothing but it. Its own sandbox is off, for it would want rights; it is in one of ours.
 */
const companionOf = (spec: VmSpec, share: VmShare, index: number, program: string): Companion => {
  const folder = folderOf(spec, index);
  return {
    name: `share "${share.tag}"`,
    program,
    args: [
      ...['--shared-dir', share.path, '--socket-path', shareSocket(spec, index)],
      ...['--sandbox', 'none', '--seccomp', 'kill', '--rlimit-nofile', String(openFiles()), '--log-level', 'warn'],
      ...(share.readonly ? ['--readonly'] : []),
    ],
    prepare: async () => {
      await endProcessesNaming(folder);
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await chown(folder, share.user, share.group);
    },
    logFile: join(spec.logDir, `share-${index}.log`),
    sandbox: {
      user: share.user,
      group: share.group,
      readOnly: share.readonly ? [share.path] : [],
      writable: [folder, ...(share.readonly ? [] : [share.path])],
    },
    socket: shareSocket(spec, index),
    ready: (process) => handOver(spec, share, index, process),
  };
};

export const sharesBeside = (spec: VmSpec, program: string): Companion[] =>
  (spec.shares ?? []).map((share, index) => companionOf(spec, share, index, program));

/** What the VMM sees of them. */
export const shareSockets = (spec: VmSpec): string[] => (spec.shares ?? []).map((_, index) => shareSocket(spec, index));

/** Of a machine that has some: no state of theirs can be kept beside its memory. Throws a permanent `VerbFailure` `has_shares`. */
export const refuseWithShares = async ({ runDir }: Pick<VmHandle, 'runDir'>): Promise<void> => {
  const there = await stat(join(runDir, folderName)).catch(() => null);
  if (there !== null)
    throw new VerbFailure('has_shares', 'An instance with shares cannot be suspended: stop it instead.', true);
};

/** Ends what still gives its machine shares, after its VMM; nothing of it is left. */
export const endShares = async (of: Pick<VmHandle, 'runDir'>): Promise<void> => {
  const folder = join(of.runDir, folderName);
  const there = await stat(folder).catch(() => null);
  if (there === null) return;
  await endProcessesNaming(folder);
  await rm(folder, { recursive: true, force: true });
};
