import { join } from 'node:path';
import { readTail } from '../../../../../core/host/sandbox/spawn-sandboxed';
import type { VmHandle } from '../vmm-driver';
import { chLogs } from './ch-config';

/** More than it writes of one start of a guest. */
const tailBytes = 256 * 1024;

/** A line of the log begins with the time since the VMM was started, as Rust prints one: `cloud-hypervisor:  31.204711s:`. */
const fired = /^cloud-hypervisor: +([\d.]+)s: .*Watchdog triggered/gm;

/** When the watchdog fired, by a log of a VMM that was started at that time; milliseconds since 1970. */
const firedBy = (log: string, startedAt: number): number[] =>
  [...log.matchAll(fired)].map(([, seconds]) => startedAt + Math.round(Number(seconds) * 1000));

/** The same of the end of its log. No event tells it: for all others it is a reset as any. */
export const readWatchdog = async (handle: VmHandle): Promise<number[]> =>
  firedBy(await readTail(join(handle.logDir, chLogs.log), tailBytes), Date.parse(handle.startedAt));
