import { join } from 'node:path';
import type { Logger } from 'pino';
import { oomKills } from '../../../../../core/host/processes/cgroup';
import { oomKillReported } from '../../../../../core/host/processes/kernel-report';
import { readExitStatus, type ExitStatus } from '../../../../../core/host/sandbox/exit-status';
import { readTail } from '../../../../../core/host/sandbox/spawn-sandboxed';
import type { VmHandle } from '../vmm-driver';
import { crashed, type VmExit } from '../vmm-exit';
import { ExitRecord } from './exit-record';

/** In the run folder: how its VMM ended, as who waited for it wrote. */
export const statusFile = 'status.json';

/** /proc counts in hundredths of a second, whatever the kernel's own clock does. */
const microsecondsPerTick = 10_000;

/** What a VMM says of a system call that its filter forbids, where it has the time to. */
const forbiddenCall = /seccomp violation/i;

export interface Evidence {
  status: ExitStatus | null;
  /** The kernel ended it for want of memory. */
  oom: boolean;
  /** The last that the VMM wrote. */
  said: string;
}

/** What the evidence says of a VMM that ended although nobody asked it to. `vmm`: its name, for people. */
export const conclude = (vmm: string, { status, oom, said }: Evidence): VmExit => {
  const { code = null, signal = null } = status ?? {};
  // Whatever else: the kernel's own count is of this machine's processes alone.
  if (oom)
    return crashed('oom-killed', `${vmm} was ended by its host's kernel, because memory ran out`, { code, signal });
  if (signal === 'SIGSYS' || forbiddenCall.test(said))
    return crashed('seccomp', `${vmm} was ended by its system call filter (SIGSYS)`, { code, signal });
  if (signal !== null) return crashed('killed', `${vmm} was ended by ${signal}`, { signal });
  if (code !== null) return crashed('exited', `${vmm} ended by itself (exit code ${code})`, { code });
  return crashed('unknown', `${vmm} ended by itself, and nobody saw how`);
};

const oomKilled = async ({ instanceId, user, process }: VmHandle): Promise<boolean> => {
  const counted = await oomKills(instanceId);
  if (counted !== null) return counted > 0;
  // No cgroup that counts. Root has other processes too.
  return user !== 0 && oomKillReported(user, Number(process.startTime) * microsecondsPerTick);
};

/**
 * Finds out why a VMM's process has ended that nobody ended, and records it unless a cause is known already. To be
 * asked before its cgroup is removed.
 * @param vmm its name, for people
 * @param logFile of the log folder: what it wrote
 */
export const settleEndedByItself = async (
  handle: VmHandle,
  vmm: string,
  logFile: string,
  log: Logger,
): Promise<VmExit> => {
  const record = new ExitRecord(handle.runDir);
  const known = await record.read();
  if (known) return known;
  const said = await readTail(join(handle.logDir, logFile));
  const evidence = {
    status: await readExitStatus(join(handle.runDir, statusFile)),
    oom: await oomKilled(handle),
    said,
  };
  const exit = await record.settle(conclude(vmm, evidence));
  const { reason, code, signal } = exit;
  log.error(
    { instanceId: handle.instanceId, reason, code, signal, said: (said.split('\n').at(-1) ?? '').slice(0, 500) },
    `${vmm} ended by itself`,
  );
  return exit;
};
