import { injectable } from 'inversify';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { Service } from '../../../../core/lifecycle/service';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import { Logging } from '../../../../core/telemetry/logging';
import type { instanceEnsure, instanceResize, ObservedInstance } from '../../contract/instance.verbs';
import { InstanceCoreDumps, InstanceRemoved } from '../core-dumps/instance-core-dumps';
import type { VmHandle } from '../drivers/vmm-driver';
import { newGuest } from './guest-life';
import { InstanceBalloons } from './instance-balloons';
import { InstanceMachines } from './instance-machines';
import type { InstanceRecord } from './instance-record';
import { InstanceRecords } from './instance-records';
import { InstanceRestarts } from './instance-restarts';
import { InstanceSizes } from './instance-sizes';
import { InstanceSuspension } from './instance-suspension';
import { KeptMemory } from './kept-memory';
import { observedAbsent, observedOf } from './observed-instance';
import { StartsAfterBoot } from './starts-after-boot';

type EnsureArgs = z.output<typeof instanceEnsure.args>;
type ResizeArgs = z.output<typeof instanceResize.args>;

/** Milliseconds for a VMM that has an ear for us. */
const answerMs = 1000;

const notRunning = (): VerbFailure =>
  new VerbFailure('instance_not_running', 'The instance does not run on this host.', true);

/**
 * The instances of this host: one call at a time for each, every effect written down before and after, VMMs adopted
 * after a restart.
 */
@injectable()
export class InstanceManager extends Service {
  /** Of the call that works on an instance now: a removal does not wait for a stop's grace period. */
  private readonly current = new Map<string, AbortController>();
  private readonly stopping = new AbortController();
  private readonly log: Logger;

  constructor(
    private readonly records: InstanceRecords,
    private readonly machines: InstanceMachines,
    private readonly suspension: InstanceSuspension,
    private readonly sizes: InstanceSizes,
    private readonly dumps: InstanceCoreDumps,
    private readonly balloons: InstanceBalloons,
    private readonly kept: KeptMemory,
    private readonly restarts: InstanceRestarts,
    private readonly afterBoot: StartsAfterBoot,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('instances');
  }

  /** Adopts what runs. What a restart of the whole host ended starts again afterwards, while the agent answers. */
  override async start(): Promise<void> {
    const records = await this.records.load();
    this.machines.claimCpus(records);
    for (const record of records)
      await this.machines
        .exclusively(record.instanceId, () => this.adopt(record))
        .catch((error: unknown) =>
          this.log.error({ err: error, instanceId: record.instanceId }, 'adopting the instance failed'),
        );
    this.afterBoot.begin(records);
  }

  /** Lets go of everything; no guest notices. */
  override async stop(): Promise<void> {
    this.stopping.abort();
    for (const controller of this.current.values()) controller.abort();
    this.restarts.stop();
    await this.afterBoot.stop();
    this.machines.letGo();
  }

  /**
   * The wanted power state, observed. Throws `VerbFailure` `stale_generation` for a lower generation than accepted
   * before.
   */
  async ensure(args: EnsureArgs, signal: AbortSignal): Promise<ObservedInstance> {
    return this.exclusive(args.instanceId, signal, async (aborted) => {
      this.records.refuseLost(args.instanceId);
      const known = this.records.upTo(args.instanceId, args.generation);
      const record: InstanceRecord = {
        ...(known ?? {
          instanceId: args.instanceId,
          revision: 0,
          user: 0,
          starting: false,
          handle: null,
          paused: false,
          leaving: [],
          lost: [],
          resizing: false,
          mayGiveLate: false,
          balloonBytes: null,
          ballooning: false,
          suspending: false,
          dumping: false,
          suspended: null,
          exit: null,
          exitAt: null,
          guest: newGuest,
          cpus: null,
          startedAt: null,
          bootId: this.machines.bootId,
        }),
        generation: args.generation,
        spec: args.spec,
        power: args.power,
        // Whoever asks for it begins anew.
        restarts: [],
      };
      // The answer tells management at once; the heartbeat follows at its own pace.
      if (args.power === 'on') await this.machines.turnOn(record);
      else {
        await this.records.save(record);
        await this.machines.turnOff(record, args.graceSeconds, aborted);
      }
      return observedOf(record);
    });
  }

  /** Throws `VerbFailure` `instance_not_running`. */
  async reboot(
    instanceId: string,
    force: boolean,
    graceSeconds: number,
    signal: AbortSignal,
  ): Promise<ObservedInstance> {
    return this.exclusive(instanceId, signal, async (aborted) => {
      this.records.refuseLost(instanceId);
      const record = this.records.get(instanceId);
      if (!record || (!record.handle && (record.power === 'off' || record.suspended))) throw notRunning();
      // Off although it is wanted on: an earlier call of this reboot was cut between its two halves.
      if (!record.handle) await this.machines.turnOn(record);
      else if (force) await this.machines.reset(record, record.handle);
      else {
        await this.machines.turnOff(record, graceSeconds, aborted);
        await this.machines.turnOn(record);
      }
      return observedOf(record);
    });
  }

  /**
   * Throws `VerbFailure` `instance_not_running` for one that shall be paused and does not run, `stale_generation` for a
   * lower generation than accepted before.
   */
  async setPaused(
    instanceId: string,
    generation: number,
    paused: boolean,
    signal: AbortSignal,
  ): Promise<ObservedInstance> {
    return this.exclusive(instanceId, signal, async () => {
      this.records.refuseLost(instanceId);
      const record = this.records.upTo(instanceId, generation);
      if (record && !paused && !record.handle) return observedOf(record);
      if (!record?.handle) throw notRunning();
      const driver = this.machines.driverOf(record.handle);
      await (paused ? driver.pause(record.handle) : driver.resume(record.handle));
      record.paused = paused;
      await this.records.save(record);
      if (!paused) await this.machines.rightClock(record);
      return observedOf(record);
    });
  }

  /** As `instance.resize` says. */
  async resize(args: ResizeArgs, signal: AbortSignal): Promise<ObservedInstance> {
    const { instanceId, generation } = args;
    return this.exclusive(instanceId, signal, async (aborted) => {
      this.records.refuseLost(instanceId);
      const record = this.records.upTo(instanceId, generation);
      if (!record) return observedAbsent(instanceId);
      await this.sizes.bring(record, args, aborted);
      return observedOf(record);
    });
  }

  /** As `instance.balloon` says. */
  async balloon(instanceId: string, memoryBytes: number, signal: AbortSignal): Promise<ObservedInstance> {
    return this.exclusive(instanceId, signal, async (aborted) => {
      this.records.refuseLost(instanceId);
      const record = this.records.get(instanceId);
      if (!record) throw notRunning();
      await this.balloons.bring(record, memoryBytes, aborted);
      return observedOf(record);
    });
  }

  /** As `setPaused`. One that is to go on and is not suspended stays what it is. */
  async setSuspended(
    instanceId: string,
    generation: number,
    suspended: boolean,
    signal: AbortSignal,
  ): Promise<ObservedInstance> {
    return this.exclusive(instanceId, signal, async () => {
      this.records.refuseLost(instanceId);
      const record = this.records.upTo(instanceId, generation);
      if (!record) throw notRunning();
      if (suspended && !record.suspended) {
        if (!record.handle) throw notRunning();
        await this.suspension.suspend(record, record.handle);
      }
      if (!suspended && record.suspended) await this.machines.turnOn(record);
      if (!suspended) await this.machines.rightClock(record);
      return observedOf(record);
    });
  }

  /** Throws `VerbFailure` `instance_not_running`. */
  async nmi(instanceId: string, signal: AbortSignal): Promise<ObservedInstance> {
    return this.exclusive(instanceId, signal, async () => {
      this.records.refuseLost(instanceId);
      const record = this.records.get(instanceId);
      if (!record?.handle) throw notRunning();
      await this.machines.driverOf(record.handle).nmi(record.handle);
      return observedOf(record);
    });
  }

  /** Every trace gone, whatever was there. Interrupts what works on the instance now. */
  async remove(instanceId: string, generation: number): Promise<void> {
    this.records.upTo(instanceId, generation);
    this.current.get(instanceId)?.abort(new InstanceRemoved());
    await this.machines.exclusively(instanceId, async () => {
      await this.machines.destroy(instanceId, this.records.upTo(instanceId, generation));
      await this.records.remove(instanceId);
    });
  }

  /** For a host that is given up: whatever is on record here goes. */
  async removeAll(): Promise<void> {
    await this.records.load();
    for (const instanceId of this.records.ids()) await this.remove(instanceId, Number.MAX_SAFE_INTEGER);
  }

  list(): ObservedInstance[] {
    return this.records.observed();
  }

  has(instanceId: string): boolean {
    return this.records.has(instanceId);
  }

  /** The only work on the instance meanwhile; `aborted` fires with the call's signal, and when a removal comes. */
  exclusive<T>(instanceId: string, signal: AbortSignal, work: (aborted: AbortSignal) => Promise<T>): Promise<T> {
    return this.machines.exclusively(instanceId, async () => {
      const controller = new AbortController();
      this.current.set(instanceId, controller);
      try {
        return await work(AbortSignal.any([controller.signal, signal]));
      } finally {
        if (this.current.get(instanceId) === controller) this.current.delete(instanceId);
      }
    });
  }

  private async adopt(record: InstanceRecord): Promise<void> {
    const handle = record.handle;
    await this.dumps.discardHalf(record);
    if (handle && record.dumping && (await this.mayRun(handle))) return this.adoptDumping(record, handle);
    if (handle && record.suspending) {
      await this.suspension.settle(record, handle);
      if (record.handle) await this.machines.confine(record, record.handle);
    } else if (handle) {
      const state = await this.machines.driverOf(handle).state(handle);
      if (state !== 'stopped') {
        this.log.info({ instanceId: record.instanceId, pid: handle.process.pid, state }, 'adopted an instance');
        this.machines.watch(record, handle);
        await this.machines.confine(record, handle);
        if (record.resizing) await this.sizes.settle(record, handle);
        if (record.ballooning) await this.balloons.settle(record, handle);
        // An agent that died between the VMM's answer and its own record knows it from here.
        if (record.paused === (state === 'paused')) return undefined;
        record.paused = state === 'paused';
        return this.records.save(record);
      }
      await this.machines.collect(record, handle);
    } else if (record.starting) {
      const strays = await this.machines.endUnfinished(record.instanceId);
      await this.kept.dropUsed(record);
      this.machines.freeCpus(record);
      record.starting = false;
      await this.records.save(record);
      if (strays > 0)
        this.log.warn({ instanceId: record.instanceId, strays }, 'ended a machine whose start had been interrupted');
    }
    await this.restarts.consider(record);
  }

  /** Also of one that does not answer at once. */
  private async mayRun(handle: VmHandle): Promise<boolean> {
    const state = this.machines.driverOf(handle).state(handle);
    state.catch(() => undefined);
    return (
      (await Promise.race([state, delay(answerMs, 'unknown', { ref: false })]).catch(() => 'unknown')) !== 'stopped'
    );
  }

  /** Its VMM may have no ear for anybody before the dump is over, so no other instance waits for it. */
  private async adoptDumping(record: InstanceRecord, handle: VmHandle): Promise<void> {
    const { instanceId } = record;
    this.log.info({ instanceId, pid: handle.process.pid }, 'adopted an instance in the midst of a core dump');
    this.machines.watch(record, handle);
    this.dumps.settleLater(instanceId, this.stopping.signal);
  }
}
