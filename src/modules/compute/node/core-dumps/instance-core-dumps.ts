import { injectable } from 'inversify';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { VerbFailure, type VerbContext } from '../../../../core/m2m/verbs/verb-handler';
import { Logging } from '../../../../core/telemetry/logging';
import type { CoreDumpFormat } from '../../contract/core-dump-formats';
import type { CoreDumpFile } from '../../contract/core-dumps';
import type { VmHandle, VmState } from '../drivers/vmm-driver';
import { InstanceMachines } from '../instances/instance-machines';
import type { InstanceRecord } from '../instances/instance-record';
import { InstanceRecords } from '../instances/instance-records';
import { CoreDumpStore } from './core-dump-store';

/** Milliseconds: how long a VMM that writes a dump by itself, and cannot be told to end, is waited for. */
const settleDeadline = 30 * 60_000;
/** Between two looks at a VMM that did not answer. */
const settlePause = 2_000;
/** Progress is told of at each further hundredth, and at most so often. Milliseconds. */
const quietMs = 500;

const gigabytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

/** The memory of instances as files. Whoever calls holds the instance. */
@injectable()
export class InstanceCoreDumps {
  private readonly log: Logger;

  constructor(
    private readonly records: InstanceRecords,
    private readonly machines: InstanceMachines,
    private readonly store: CoreDumpStore,
    logging: Logging,
  ) {
    this.log = logging.for('instances');
  }

  /**
   * As `instance.core-dump` says. One that is whole already is the answer to a repeat.
   * @param aborted fires with the call's signal, and when a removal comes
   */
  async make(
    record: InstanceRecord,
    asked: { dumpId: string; format: CoreDumpFormat },
    progress: VerbContext['progress'],
    aborted: AbortSignal,
  ): Promise<CoreDumpFile> {
    const { instanceId } = record;
    const there = await this.store.find(instanceId, asked.dumpId);
    if (there) return there;
    const { handle } = record;
    if (!handle) throw new VerbFailure('instance_not_running', 'The instance does not run on this host.', true);
    // An earlier call could not see its VMM out of the dump.
    if (record.dumping) await this.settle(record, handle, aborted);
    const driver = this.machines.driverOf(handle);
    const memoryBytes = Math.max((await driver.size(handle)).memoryBytes, record.spec.memoryBytes);
    const begun = await this.store.begin(instanceId, asked.dumpId, asked.format, memoryBytes);
    try {
      record.dumping = true;
      await this.records.save(record);
      try {
        await driver.coreDump(handle, {
          format: asked.format,
          path: begun.path,
          limit: begun.limit,
          progress: telling(progress),
          signal: aborted,
        });
        aborted.throwIfAborted();
      } finally {
        await this.settleAfter(record, handle, aborted);
      }
      return await begun.complete();
    } catch (error) {
      throw failureOf(error, aborted);
    } finally {
      await begun.discard();
    }
  }

  /** It is not there. Whoever was making it has been told to end, and has. */
  async remove(
    record: InstanceRecord | undefined,
    instanceId: string,
    dumpId: string,
    signal: AbortSignal,
  ): Promise<void> {
    if (record?.dumping && record.handle) await this.settle(record, record.handle, signal);
    await this.store.remove(instanceId, dumpId);
  }

  /**
   * After a dump, or what an agent that died has left of one: its VMM writes no more, and it goes on if it is to. Returns
   * its state. Throws when its VMM does not say so in time: then it is still to be done.
   */
  async settle(record: InstanceRecord, handle: VmHandle, signal: AbortSignal): Promise<VmState> {
    const driver = this.machines.driverOf(handle);
    const state = await driver.settleCoreDump(handle, AbortSignal.any([signal, AbortSignal.timeout(settleDeadline)]));
    const goesOn = state === 'paused' && !record.paused;
    if (goesOn) await driver.resume(handle);
    record.dumping = false;
    await this.records.save(record);
    if (state !== 'stopped' && !record.paused) await this.machines.rightClock(record);
    return goesOn ? 'running' : state;
  }

  /** Of an agent that died: no dump is made. */
  discardHalf({ instanceId }: InstanceRecord): Promise<void> {
    return this.store.discardHalf(instanceId);
  }

  /** What an agent that died in the midst of a dump has left, for as long as it takes. Holds the instance by itself. */
  settleLater(instanceId: string, signal: AbortSignal): void {
    void this.machines
      .exclusively(instanceId, async () => {
        const end = Date.now() + settleDeadline;
        for (;;) {
          const record = this.records.get(instanceId);
          if (!record?.dumping || !record.handle) return;
          try {
            return void (await this.settle(record, record.handle, signal));
          } catch (error) {
            if (signal.aborted || Date.now() > end) throw error;
            this.log.warn({ err: error, instanceId }, 'its VMM is not out of a core dump yet');
          }
          await delay(settlePause, undefined, { signal });
        }
      })
      .catch((error: unknown) => {
        if (!signal.aborted) this.log.error({ err: error, instanceId }, 'what a core dump left could not be settled');
      });
  }

  /** What the dump threw is told first; a removal ends the machine, so nobody waits for it to go on. */
  private async settleAfter(record: InstanceRecord, handle: VmHandle, aborted: AbortSignal): Promise<void> {
    if (aborted.reason instanceof InstanceRemoved) return;
    // A task that was cancelled has a machine to see going on again.
    await this.settle(record, handle, AbortSignal.timeout(settleDeadline));
  }
}

/** Why a call ends: its instance is removed, with its machine and its files. */
export class InstanceRemoved extends Error {
  constructor() {
    super('The instance is removed.');
    this.name = 'InstanceRemoved';
  }
}

/** Percent and bytes, no oftener than somebody can read. */
const telling = (progress: VerbContext['progress']): ((done: number, total: number) => void) => {
  let last = { percent: -1, at: 0 };
  return (done, total) => {
    const percent = total > 0 ? Math.min(99, Math.floor((done / total) * 100)) : 0;
    const at = Date.now();
    if (percent === last.percent || at - last.at < quietMs) return;
    last = { percent, at };
    progress(percent, `${gigabytes(done)} of ${gigabytes(total)}`);
  };
};

/** What the file system says, in words; one that was told to end says so and no more. */
const failureOf = (error: unknown, aborted: AbortSignal): unknown => {
  if (aborted.aborted) return new VerbFailure('interrupted', 'The core dump was interrupted.', false);
  const code = (error as NodeJS.ErrnoException).code;
  if (error instanceof VerbFailure || typeof code !== 'string') return error;
  const full = code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
  return new VerbFailure(
    full ? 'no_room_to_dump' : 'core_dump_failed',
    full ? 'The disk of its host became full while the memory was written.' : 'Its host could not write the file.',
    true,
    {},
    { cause: error, detail: (error as Error).message },
  );
};
