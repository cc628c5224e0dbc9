import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { isRunning } from '../../../../../core/host/processes/process-identity';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import { socketFolder } from '../common/vmm-files';
import type { VmHandle, VmState } from '../vmm-driver';
import { crashed, panickedExit, watchdogExit, type VmExit } from '../vmm-exit';
import { qemuSockets } from './qemu-arguments';
import type { QemuGuestEvents } from './qemu-guest-events';
import type { QemuRecord } from './qemu-record';
import { QmpClient } from './qmp-client';
import { QmpError } from './qmp-error';

/** Milliseconds. Software emulation on a busy host is slow, but a monitor that says nothing for so long is gone. */
const deadlines = { command: 5000, listen: 2000 } as const;

/** QEMU's run states. `shutdown`: the guest powered off. `internal-error`: KVM could not go on. The last two: by policy. */
const stoppedStates = new Set(['shutdown', 'internal-error', 'postmigrate', 'guest-panicked', 'watchdog']);
const hasStopped = (status: string): boolean => stoppedStates.has(status);

/** How a machine ended that is in such a run state, other than by its guest's power-off. */
export const exitOf = (status: string): VmExit | null =>
  status === 'guest-panicked'
    ? panickedExit
    : status === 'watchdog'
      ? watchdogExit
      : hasStopped(status)
        ? crashed('vmm-error', 'the hypervisor reported an internal error')
        : null;

/** Of a run state of QEMU's. */
export const stateOf = (status: string): VmState =>
  status === 'running' ? 'running' : hasStopped(status) ? 'stopped' : 'paused';

interface RunState {
  status: string;
}

/** How QEMU is talked to: commands on one monitor, events on the other. Nothing of it is kept between two calls. */
export class QemuMonitor {
  /**
   * Listens until the VM has stopped or its process ended, or the connection is lost. Returns the run state if it is a
   * stopped one. Another listener may hold the monitor: then the caller tries again, and the process's end is seen all
   * the same.
   */
  async listen(
    handle: VmHandle,
    signal: AbortSignal,
    guest: QemuGuestEvents,
    record: QemuRecord,
  ): Promise<string | null> {
    const qmp = await QmpClient.connect(
      join(socketFolder(handle), qemuSockets.events),
      handle.user,
      deadlines.listen,
    ).catch(() => null);
    if (!qmp) {
      await delay(250, undefined, { signal });
      return null;
    }
    // An aborted wait closes the monitor, which ends whatever waits on it.
    const stop = (): void => qmp.close();
    signal.addEventListener('abort', stop, { once: true });
    try {
      signal.throwIfAborted();
      const changed = new Promise<void>((resolve) =>
        qmp.onEvent((heard) => {
          record.noteHeard();
          guest.heard(heard);
          if (heard.event === 'SHUTDOWN' || heard.event === 'STOP') resolve();
        }),
      );
      // From now on it is heard; before that it was only written down.
      guest.written(await record.read());
      const first = await this.queryStatus(qmp);
      if (hasStopped(first)) return first;
      await Promise.race([changed, qmp.closed]);
      signal.throwIfAborted();
      // SHUTDOWN comes just before the run state changes.
      for (let attempt = 0; attempt < 20 && isRunning(handle.process); attempt++) {
        const status = await this.queryStatus(qmp);
        if (hasStopped(status)) return status;
        await delay(10);
      }
      return null;
    } catch (error) {
      if (error instanceof QmpError) return null;
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
      qmp.close();
    }
  }

  /** Its run state. Throws as `guarded`. */
  status(handle: VmHandle): Promise<string> {
    return this.guarded(this.askStatus(handle));
  }

  /** One command without arguments. Throws `VerbFailure` `not_running`, and as `guarded`. */
  async command(handle: VmHandle, name: string): Promise<void> {
    this.assertRunning(handle);
    await this.guarded(this.ask(handle, name));
  }

  /** Several commands on one connection. Throws `VerbFailure` `not_running`, and as `guarded`. */
  async converse<T>(handle: VmHandle, talk: (qmp: QmpClient) => Promise<T>): Promise<T> {
    this.assertRunning(handle);
    return this.guarded(
      (async () => {
        const path = join(socketFolder(handle), qemuSockets.commands);
        const qmp = await QmpClient.connect(path, handle.user, deadlines.command);
        try {
          return await talk(qmp);
        } finally {
          qmp.close();
        }
      })(),
    );
  }

  /** Throws a permanent `VerbFailure` `not_running` when its process is gone. */
  assertRunning(handle: VmHandle): void {
    if (!isRunning(handle.process)) throw new VerbFailure('not_running', 'The VM is not running.', true);
  }

  /** What QEMU refuses is the permanent `VerbFailure` `vmm_refused`, a lost monitor `vmm_unresponsive`. */
  async guarded<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (!(error instanceof QmpError)) throw error;
      if (!['ConnectionLost', 'Timeout'].includes(error.errorClass))
        throw new VerbFailure('vmm_refused', 'QEMU refused.', true, {}, { cause: error, detail: error.message });
      throw new VerbFailure(
        'vmm_unresponsive',
        "QEMU's monitor failed.",
        false,
        {},
        { cause: error, detail: error.message },
      );
    }
  }

  /** One command, unguarded: throws `QmpError`. */
  ask<T>(of: Pick<VmHandle, 'runDir' | 'user'>, command: string, timeoutMs: number = deadlines.command): Promise<T> {
    return QmpClient.ask<T>(join(socketFolder(of), qemuSockets.commands), of.user, command, timeoutMs);
  }

  /** As `status`, unguarded. */
  async askStatus(of: Pick<VmHandle, 'runDir' | 'user'>): Promise<string> {
    return (await this.ask<RunState>(of, 'query-status')).status;
  }

  private async queryStatus(qmp: QmpClient): Promise<string> {
    return (await qmp.execute<RunState>('query-status', undefined, deadlines.command)).status;
  }
}
