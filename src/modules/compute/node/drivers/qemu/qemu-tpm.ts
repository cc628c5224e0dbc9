import { access, chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '../../../../../core/host/processes/find-program';
import { endProcessesNaming } from '../../../../../core/host/processes/processes-naming';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import type { Companion } from '../common/companion';
import { socketFolder } from '../common/vmm-files';
import type { VmHandle, VmSpec } from '../vmm-driver';
import { tpmSocket, tpmState } from './qemu-arguments';
import { hasDevice, says } from './qemu-devices';

const program = 'swtpm';

/** Whether this QEMU can have a TPM beside it, and there is one. */
export const hasTpm = async (qemu: string): Promise<boolean> => {
  const found = findProgram(program);
  if (found === null) return false;
  const [emulator, device] = await Promise.all([
    says(found, ['socket', '--tpm2', '--print-capabilities']),
    hasDevice(qemu, 'tpm-crb'),
  ]);
  return emulator.includes('"tpm-2.0"') && device;
};

const stateFolder = ({ logDir }: Pick<VmSpec, 'logDir'>): string => join(logDir, tpmState);

/**
 * The machine's TPM: it keeps its state in a folder of the instance, from which no VMM reads, and ends with the
 * connection that its QEMU makes. Throws a permanent `VerbFailure` `no_such_machine`.
 */
export const tpmBeside = (spec: VmSpec): Companion => {
  const found = findProgram(program);
  if (found === null)
    throw new VerbFailure('no_such_machine', 'The instance has a TPM, and this host has no program for one.', true);
  const state = stateFolder(spec);
  return {
    name: 'TPM',
    program: found,
    // The stroke at the end: by it those are found that keep this state.
    args: [
      ...['socket', '--tpm2', '--tpmstate', `dir=${state}/,mode=0600`],
      ...['--ctrl', `type=unixio,path=${join(socketFolder(spec), tpmSocket)},mode=0600`, '--terminate'],
    ],
    prepare: async () => {
      await endTpm(spec);
      await mkdir(state, { recursive: true, mode: 0o700 });
      await chown(state, spec.user, spec.user);
    },
    logFile: join(spec.logDir, 'tpm.log'),
    sandbox: { user: spec.user, writable: [socketFolder(spec), state] },
    socket: join(socketFolder(spec), tpmSocket),
  };
};

/** Ends what keeps the state of the machine's TPM, if anything still does. */
export const endTpm = async (of: Pick<VmHandle, 'logDir'>): Promise<void> => {
  const state = stateFolder(of);
  const kept = await access(state).then(
    () => true,
    () => false,
  );
  if (kept) await endProcessesNaming(state);
};
