import { setTimeout as delay } from 'node:timers/promises';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { Config } from '../../../../core/config/config';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import { Logging } from '../../../../core/telemetry/logging';
import type { ComputeConfig } from '../../contract/compute.config';
import type { instanceMemory } from '../../contract/instance.verbs';
import { noBalloon, type VmHandle } from '../drivers/vmm-driver';
import { InstanceMachines } from './instance-machines';
import type { InstanceRecord } from './instance-record';
import { InstanceRecords } from './instance-records';

/** Milliseconds between looks at what a guest has given, at first and at most. */
const looks = { first: 50, longest: 1000 } as const;

/** Of a guest that did not do it in time. */
const balloonHeld = (gives: boolean): VerbFailure =>
  new VerbFailure('balloon_held', `Its guest did not ${gives ? 'give' : 'take'} the memory in time.`, true);

/**
 * What guests keep of their memory while they run. It is written down first that it changes, and only what the VMM says
 * that the guest has done counts. Whoever changes something holds the instance.
 */
@injectable()
export class InstanceBalloons {
  private readonly log: Logger;

  constructor(
    private readonly config: Config,
    private readonly records: InstanceRecords,
    private readonly machines: InstanceMachines,
    logging: Logging,
  ) {
    this.log = logging.for('instances');
  }

  /** As `instance.balloon` says. */
  async bring(record: InstanceRecord, memoryBytes: number, signal: AbortSignal): Promise<void> {
    const handle = this.machineOf(record);
    const driver = this.machines.driverOf(handle);
    if ((await driver.state(handle)) === 'paused')
      throw new VerbFailure('instance_paused', 'It is paused: its guest gives and takes no memory.', true);
    const { bytes } = await driver.memory(handle);
    const wanted = Math.min(memoryBytes, bytes);
    record.ballooning = true;
    await this.records.save(record);
    try {
      await driver.setBalloon(handle, wanted);
      await this.await(handle, wanted, signal);
    } catch (error) {
      // Marked as it is: whoever asks next, or the next agent, brings it to what is on record.
      if (signal.aborted)
        throw new VerbFailure('interrupted', 'Something else was asked of the instance meanwhile.', false);
      const state = await driver.state(handle).catch(() => 'running');
      // Whoever watches it will say so.
      if (state === 'stopped') throw notRunning();
      await this.settle(record, handle);
      throw error;
    }
    record.balloonBytes = wanted < bytes ? wanted : null;
    record.ballooning = false;
    await this.records.save(record);
  }

  /** After a change that failed or was cut: its guest is asked to keep what it did before, and does it when it can. */
  async settle(record: InstanceRecord, handle: VmHandle): Promise<void> {
    const { instanceId, balloonBytes } = record;
    this.log.info({ instanceId, balloonBytes }, 'the balloon is asked to be as it was before');
    const driver = this.machines.driverOf(handle);
    await driver.setBalloon(handle, balloonBytes ?? (await driver.memory(handle)).bytes);
    record.ballooning = false;
    await this.records.save(record);
  }

  /** As `instance.memory` says. No call that works on the instance is waited for. */
  async look(instanceId: string): Promise<z.infer<typeof instanceMemory.result>> {
    this.records.refuseLost(instanceId);
    const record = this.records.get(instanceId);
    if (!record) throw new VerbFailure('instance_absent', 'This host does not have the instance.', true);
    const handle = this.machineOf(record);
    return { ...(await this.machines.driverOf(handle).memory(handle)), targetBytes: record.balloonBytes };
  }

  private machineOf({ handle, spec }: InstanceRecord): VmHandle {
    if (!handle) throw notRunning();
    if (spec.machine?.balloon !== true) throw noBalloon();
    return handle;
  }

  private async await(handle: VmHandle, wanted: number, signal: AbortSignal): Promise<void> {
    const driver = this.machines.driverOf(handle);
    const end = Date.now() + this.config.section<ComputeConfig>('compute').resizeSeconds * 1000;
    for (let pause: number = looks.first; ; pause = Math.min(2 * pause, looks.longest)) {
      const { heldBytes } = await driver.memory(handle);
      if (heldBytes === wanted) return;
      const left = end - Date.now();
      if (left <= 0) throw balloonHeld(heldBytes > wanted);
      await delay(Math.min(pause, left), undefined, { signal });
    }
  }
}

const notRunning = (): VerbFailure =>
  new VerbFailure('instance_not_running', 'The instance does not run on this host.', true);
