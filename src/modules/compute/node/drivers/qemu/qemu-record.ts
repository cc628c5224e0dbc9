import { open, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { eventFd } from '../../../../../core/host/sandbox/launcher-messages';
import { socketFolder } from '../common/vmm-files';
import type { VmHandle, VmSpec } from '../vmm-driver';
import { QmpClient, qmpEvent, type QmpEvent } from './qmp-client';

/** Of the run folder: what a VMM tells while no agent is there, too. */
const qemuRecord = 'events.json';
/** In the VMM's own folder. */
export const recordSocket = 'record.sock';

/** Bytes that are read of its end; an event has some hundred. */
const tailBytes = 256 * 1024;
/** Of events that were heard: after so many the file begins anew. */
const keptEvents = 1000;
/** Milliseconds. */
const deadline = 5000;

/** Whether somebody asked what is to become of a machine that is in trouble. */
const isRecorded = ({ machine }: Pick<VmSpec, 'machine'>): boolean =>
  machine?.watchdog !== undefined || machine?.panic !== undefined;

/**
 * A third monitor, whose output is written down also when nobody reads it. The file is opened by who starts the VMM, which
 * can only append to it.
 */
export const recordArguments = (spec: VmSpec): string[] =>
  isRecorded(spec)
    ? [
        '-add-fd',
        `fd=${eventFd},set=1`,
        '-chardev',
        `socket,id=record,path=${join(socketFolder(spec), recordSocket).replaceAll(',', ',,')},server=on,wait=off,logfile=/dev/fdset/1,logappend=on`,
        '-mon',
        'chardev=record,mode=control',
      ]
    : [];

export const recordFile = (spec: VmSpec): { eventFile?: string } =>
  isRecorded(spec) ? { eventFile: join(spec.runDir, qemuRecord) } : {};

/** A monitor tells nothing before it was spoken to once; then it does for its life. Throws `QmpError`. */
export const beginRecord = async (spec: VmSpec): Promise<void> => {
  if (!isRecorded(spec)) return;
  const qmp = await QmpClient.connect(join(socketFolder(spec), recordSocket), spec.user, deadline);
  qmp.close();
};

const parse = (line: string): QmpEvent[] => {
  try {
    return [qmpEvent(JSON.parse(line) as Record<string, unknown>) ?? []].flat();
  } catch {
    // Cut off at the front, or not yet written to its end.
    return [];
  }
};

/** What one VMM wrote down. */
export class QemuRecord {
  private readonly path: string;
  private heard = 0;

  constructor({ runDir }: Pick<VmHandle, 'runDir'>) {
    this.path = join(runDir, qemuRecord);
  }

  /** The last events, oldest first; none when there is no file. */
  async read(): Promise<QmpEvent[]> {
    const file = await open(this.path, 'r').catch(() => null);
    if (!file) return [];
    try {
      const { size } = await file.stat();
      const buffer = Buffer.alloc(Math.min(size, tailBytes));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, size - buffer.length);
      return buffer.toString('utf8', 0, bytesRead).split('\n').flatMap(parse);
    } finally {
      await file.close();
    }
  }

  /** Somebody listens to what is written: so it need not grow for ever. */
  noteHeard(): void {
    this.heard += 1;
    if (this.heard % keptEvents === 0) truncate(this.path).catch(() => undefined);
  }
}
