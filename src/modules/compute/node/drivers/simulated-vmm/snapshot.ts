import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiFailure } from './api-failure';
import { decodeBody, withoutNulls } from './decode';
import { DecodeFailure } from './decode-failure';
import { osError } from './serial-port';
import type { SimulatedVmm } from './simulated-vmm';
import { vmConfig, type VmConfig } from './vm-config';

const scheme = 'file://';

const directoryOf = (url: string, ...heading: string[]): string => {
  const chain = [...heading, 'Failed to send migratable component snapshot'];
  if (!url.startsWith(scheme)) throw new ApiFailure('internal', ...chain, `Could not extract path from URL: ${url}`);
  const path = url.slice(scheme.length);
  const found = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (!found) throw new ApiFailure('internal', ...chain, `Destination is not a directory: ${JSON.stringify(path)}`);
  return path;
};

/** vm.snapshot: three files into an existing folder; the VM stays paused. */
export const snapshot = (vmm: SimulatedVmm, url: string): void => {
  const heading = 'The VM could not be snapshotted';
  const vm = vmm.running(heading);
  vmm.events.emit('vm', 'snapshotting');
  if (vm.state !== 'Paused')
    throw new ApiFailure(
      'internal',
      heading,
      'Cannot snapshot VM',
      'Failed to snapshot migratable component',
      'Trying to snapshot while VM is running',
    );
  const directory = directoryOf(url, heading, 'Cannot send VM snapshot');
  const write = (name: string, content: string, text: string): void => {
    try {
      writeFileSync(join(directory, name), content, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      throw new ApiFailure(
        'internal',
        heading,
        'Cannot send VM snapshot',
        'Failed to send migratable component snapshot',
        text,
        osError(error as NodeJS.ErrnoException),
      );
    }
  };
  write('config.json', JSON.stringify(withoutNulls(vmm.config)), 'Error creating VM config snapshot file');
  write('state.json', JSON.stringify({ snapshots: {} }), 'Error creating VM state snapshot file');
  write('memory-ranges', '', 'Error creating memory ranges file');
  truncateSync(join(directory, 'memory-ranges'), vmm.config?.memory.size ?? 0);
  vmm.events.emit('vm', 'snapshotted');
};

export interface Restore {
  source_url: string;
  prefault: boolean;
  memory_restore_mode: 'Copy' | 'OnDemand';
  resume: boolean;
}

const readConfig = (directory: string, heading: string): VmConfig => {
  const path = join(directory, 'config.json');
  const fail = (...chain: string[]): ApiFailure =>
    new ApiFailure(
      'internal',
      heading,
      'Cannot restore VM',
      'Failed to receive migratable component snapshot',
      ...chain,
    );
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw fail(
      `Error opening VM config snapshot file ${JSON.stringify(path)}`,
      osError(error as NodeJS.ErrnoException),
    );
  }
  try {
    return decodeBody(vmConfig, text);
  } catch (error) {
    if (!(error instanceof DecodeFailure)) throw error;
    throw fail('Error deserialising VM config snapshot', error.message);
  }
};

/** vm.restore: the configuration of the snapshot, paused unless told to resume; nothing stays of a failed one. */
export const restore = async (vmm: SimulatedVmm, wanted: Restore): Promise<void> => {
  const heading = 'The VM could not be restored';
  vmm.needUnlocked(heading);
  if (!vmm.isFree()) throw new ApiFailure('internal', heading, 'VM is already created');
  const config = readConfig(directoryOf(wanted.source_url, heading, 'Cannot restore VM'), heading);
  if (wanted.prefault && wanted.memory_restore_mode === 'OnDemand')
    throw new ApiFailure(
      'validation',
      heading,
      'Failed to validate config',
      "'prefault' cannot be combined with 'memory_restore_mode=ondemand'",
    );
  vmm.events.emit('vm', 'restoring');
  vmm.config = config;
  try {
    await vmm.construct(config, heading);
  } catch (error) {
    vmm.vm?.dispose();
    vmm.vm = null;
    vmm.config = null;
    await vmm.closeConsoles();
    throw error;
  }
  if (vmm.vm) vmm.vm.state = 'Paused';
  vmm.vm?.guest?.pause();
  vmm.events.emit('vm', 'restored');
  if (wanted.resume) vmm.vm?.resume(vmm.events);
};
