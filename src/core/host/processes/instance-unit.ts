import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { exec, ExecError } from './exec';

/** What systemd is to hold an instance's processes to. Times in microseconds, weights from 1 to 10,000. */
export interface UnitLimits {
  memoryBytes: number;
  cpuPerSecond: number;
  weight: number;
  tasks: number;
}

/** Without a stroke, which would put it below another slice. */
export const unitSlice = 'vcstack.slice';
export const unitOf = (instanceId: string): string => `vc-stack-instance-${instanceId}.scope`;

/** Milliseconds for one call of systemd. */
const callDeadline = 10_000;
/** Milliseconds until a unit that has ended is gone, and until a process is in its unit. */
const settleDeadline = 5_000;
const pause = 10;

/** systemd is this machine's init: sd_booted(3). */
export const systemdRuns = (): boolean => existsSync('/run/systemd/system');

const call = (method: string, signature: string, ...args: string[]): Promise<unknown> =>
  exec(
    'busctl',
    [
      ...['--system', '--quiet', `--timeout=${callDeadline / 1000}`, 'call'],
      ...['org.freedesktop.systemd1', '/org/freedesktop/systemd1', 'org.freedesktop.systemd1.Manager'],
      ...[method, signature, ...args],
    ],
    { timeoutMs: callDeadline + 1000 },
  );

const isThere = (error: unknown): boolean =>
  error instanceof ExecError && /already exists|was already loaded|has a fragment file/.test(error.stderr);

const properties = (instanceId: string, pid: number, limits: UnitLimits): string[][] => [
  ['Description', 's', `Instance ${instanceId} of VC Stack`],
  ['Slice', 's', unitSlice],
  ['PIDs', 'au', '1', String(pid)],
  // Nothing stays of it when its processes have ended, however they did.
  ['CollectMode', 's', 'inactive-or-failed'],
  ...limitProperties(limits),
];

const limitProperties = (limits: UnitLimits): string[][] => [
  ['MemoryMax', 't', String(limits.memoryBytes)],
  ['CPUQuotaPerSecUSec', 't', String(limits.cpuPerSecond)],
  ['CPUWeight', 't', String(limits.weight)],
  ['IOWeight', 't', String(limits.weight)],
  ['TasksMax', 't', String(limits.tasks)],
];

/**
 * Starts a transient unit (a scope) with that process in it, and returns once it is there: it is no part of its agent's
 * service then, whose stop or restart does not reach it. A unit of an earlier start is waited for. Rejects with what
 * systemd says.
 */
export const startUnit = async (instanceId: string, pid: number, limits: UnitLimits): Promise<void> => {
  const wanted = properties(instanceId, pid, limits);
  const end = Date.now() + settleDeadline;
  for (;;)
    try {
      await call(
        'StartTransientUnit',
        'ssa(sv)a(sa(sv))',
        unitOf(instanceId),
        'fail',
        String(wanted.length),
        ...wanted.flat(),
        '0',
      );
      break;
    } catch (error) {
      if (!isThere(error) || Date.now() >= end) throw error;
      await delay(pause);
    }
  // systemd has only taken it into its queue.
  for (const patience = Date.now() + settleDeadline; ; await delay(pause)) {
    const groups = await readFile(`/proc/${pid}/cgroup`, 'utf8');
    if (groups.trimEnd().endsWith(`/${unitOf(instanceId)}`)) return;
    if (Date.now() >= patience) throw new Error(`systemd did not start ${unitOf(instanceId)}`);
  }
};

/** Other limits for a unit that runs, until it ends. Rejects with what systemd says. */
export const changeUnit = async (instanceId: string, limits: UnitLimits): Promise<void> => {
  const wanted = limitProperties(limits);
  await call('SetUnitProperties', 'sba(sv)', unitOf(instanceId), 'true', String(wanted.length), ...wanted.flat());
};
