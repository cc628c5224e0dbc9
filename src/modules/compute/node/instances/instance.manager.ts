import { injectable } from 'inversify';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { Service } from '../../../../core/lifecycle/service';
import { KeyedMutex } from '../../../../core/host/keyed-mutex';
import { ObservedReporter } from '../../../../core/m2m/reports/observed';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import { Logging } from '../../../../core/telemetry/logging';
import type { instanceEnsure, ObservedInstance } from '../../contract/instance.verbs';
import { askToPowerOff } from './ask-to-power-off';
import { ConfigDrives } from '../seeds/config-drive';
import { ConsoleHub } from '../consoles/console.hub';
import { forcedExit, type VmExit, type VmHandle, type VmmDriver } from '../drivers/vmm-driver';
import { VmmDrivers } from '../drivers/vmm-drivers';
import type { InstanceRecord } from './instance-record';
import { InstanceRecords } from './instance-records';
import { InstanceStore } from './instance-store';
import { InstanceUsers } from './instance-users';
import { observedOf } from './observed-instance';
import { VmSpecs } from './vm-specs';
import { endProcessesNaming } from '../../../../core/host/processes/processes-naming';

type EnsureArgs = z.output<typeof instanceEnsure.args>;

interface Watch {
  handle: VmHandle;
  exit: Promise<VmExit>;
  abort: AbortController;
}

const notRunning = (): VerbFailure =>
  new VerbFailure('instance_not_running', 'The instance does not run on this host.', true);

/**
 * The instances of this host: one call at a time for each, every effect written down before and after, VMMs adopted
 * after a restart.
 */
@injectable()
export class InstanceManager extends Service {
  private readonly watches = new Map<string, Watch>();
  /** Of the call that works on an instance now: a removal does not wait for a stop's grace period. */
  private readonly current = new Map<string, AbortController>();
  private readonly mutex = new KeyedMutex();
  private readonly bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  private readonly log: Logger;
  private stopping = false;

  constructor(
    private readonly records: InstanceRecords,
    private readonly store: InstanceStore,
    private readonly users: InstanceUsers,
    private readonly drivers: VmmDrivers,
    private readonly specs: VmSpecs,
    private readonly drives: ConfigDrives,
    private readonly consoles: ConsoleHub,
    private readonly reporter: ObservedReporter,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('instances');
  }

  /** Adopts what runs; starts again what a restart of the whole host ended. */
  override async start(): Promise<void> {
    for (const record of await this.records.load())
      await this.mutex
        .run(record.instanceId, () => this.adopt(record))
        .catch((error: unknown) =>
          this.log.error({ err: error, instanceId: record.instanceId }, 'adopting the instance failed'),
        );
  }

  /** Lets go of everything; no guest notices. */
  override async stop(): Promise<void> {
    this.stopping = true;
    for (const controller of this.current.values()) controller.abort();
    for (const watch of this.watches.values()) watch.abort.abort();
    this.watches.clear();
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
          exit: null,
          bootId: this.bootId,
        }),
        generation: args.generation,
        spec: args.spec,
        power: args.power,
      };
      // The answer tells management at once; the heartbeat follows at its own pace.
      if (args.power === 'on') await this.turnOn(record);
      else {
        await this.records.save(record);
        await this.turnOff(record, args.graceSeconds, aborted);
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
      if (!record || (!record.handle && record.power === 'off')) throw notRunning();
      // Off although it is wanted on: an earlier call of this reboot was cut between its two halves.
      if (!record.handle) await this.turnOn(record);
      else if (force) await this.reset(record, record.handle);
      else {
        await this.turnOff(record, graceSeconds, aborted);
        await this.turnOn(record);
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
      const driver = this.driverOf(record.handle);
      await (paused ? driver.pause(record.handle) : driver.resume(record.handle));
      record.paused = paused;
      await this.records.save(record);
      return observedOf(record);
    });
  }

  /** Throws `VerbFailure` `instance_not_running`. */
  async nmi(instanceId: string, signal: AbortSignal): Promise<ObservedInstance> {
    return this.exclusive(instanceId, signal, async () => {
      this.records.refuseLost(instanceId);
      const record = this.records.get(instanceId);
      if (!record?.handle) throw notRunning();
      await this.driverOf(record.handle).nmi(record.handle);
      return observedOf(record);
    });
  }

  /** Every trace gone, whatever was there. Interrupts what works on the instance now. */
  async remove(instanceId: string, generation: number): Promise<void> {
    this.records.upTo(instanceId, generation);
    this.current.get(instanceId)?.abort();
    await this.mutex.run(instanceId, async () => {
      const record = this.records.upTo(instanceId, generation);
      if (record?.handle) {
        const watch = this.watches.get(instanceId);
        watch?.abort.abort();
        this.watches.delete(instanceId);
        await this.driverOf(record.handle).kill(record.handle);
      }
      // A VMM that nobody has on record can only be there if a start was interrupted, or if the record itself is gone.
      if (!record || record.starting) await endProcessesNaming(this.store.runDirectory(instanceId));
      this.consoles.close(instanceId);
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

  /** A machine that stood still would stand still after it too. */
  private async reset(record: InstanceRecord, handle: VmHandle): Promise<void> {
    const driver = this.driverOf(handle);
    await driver.reset(handle);
    if (!record.paused) return;
    await driver.resume(handle);
    record.paused = false;
    await this.records.save(record);
  }

  private async turnOn(record: InstanceRecord): Promise<void> {
    if (record.handle) {
      if ((await this.driverOf(record.handle).state(record.handle)) !== 'stopped') return this.records.save(record);
      await this.ended(record, record.handle, { cause: 'crashed', detail: 'the virtual machine monitor is gone' });
    }
    if (record.starting) await this.endUnfinished(record.instanceId);
    const driver =
      record.spec.vmm === null ? await this.drivers.best(record.spec) : this.drivers.byKind(record.spec.vmm);
    if (record.user === 0) record.user = this.users.allocate(record.instanceId);
    const spec = await this.specs.of(record);
    driver.validate(spec);
    record.starting = true;
    record.bootId = this.bootId;
    await this.records.save(record);
    await mkdir(spec.runDir, { recursive: true, mode: 0o700 });
    try {
      if (record.spec.configDrive !== undefined) await this.drives.make(record.instanceId, record.spec.configDrive);
      const handle = await driver.start(spec);
      record.handle = handle;
      record.paused = false;
      record.exit = null;
      this.watch(record, handle);
    } catch (error) {
      await this.drives.remove(record.instanceId);
      throw error;
    } finally {
      record.starting = false;
      await this.records.save(record);
    }
  }

  private async turnOff(record: InstanceRecord, graceSeconds: number, aborted: AbortSignal): Promise<void> {
    const handle = record.handle;
    if (!handle) {
      if (record.starting) await this.endUnfinished(record.instanceId);
      if (record.exit?.cause === 'crashed') record.exit = { cause: 'operator', detail: '' };
      record.starting = false;
      return this.records.save(record);
    }
    const driver = this.driverOf(handle);
    // A guest that stands still does not see its power button.
    if (graceSeconds > 0 && (await driver.state(handle)) === 'running') {
      const watch = this.watches.get(record.instanceId);
      const exit = watch ? await askToPowerOff(driver, handle, watch.exit, graceSeconds * 1000, aborted) : null;
      if (aborted.aborted)
        throw new VerbFailure('interrupted', 'Something else was asked of the instance while it was stopping.', false);
      if (exit) return this.ended(record, handle, { cause: 'operator', detail: exit.detail });
    }
    this.watches.get(record.instanceId)?.abort.abort();
    this.watches.delete(record.instanceId);
    await driver.kill(handle);
    await this.ended(record, handle, forcedExit);
  }

  /** After a start that was cut: ends what it may have left. Returns how many machines that were. */
  private async endUnfinished(instanceId: string): Promise<number> {
    const strays = await endProcessesNaming(this.store.runDirectory(instanceId));
    await this.drives.remove(instanceId);
    return strays;
  }

  private async adopt(record: InstanceRecord): Promise<void> {
    const handle = record.handle;
    if (handle) {
      const driver = this.driverOf(handle);
      const state = await driver.state(handle);
      if (state !== 'stopped') {
        this.log.info({ instanceId: record.instanceId, pid: handle.process.pid, state }, 'adopted an instance');
        this.watch(record, handle);
        // An agent that died between the VMM's answer and its own record knows it from here.
        if (record.paused === (state === 'paused')) return undefined;
        record.paused = state === 'paused';
        return this.records.save(record);
      }
      const exit =
        record.bootId === this.bootId
          ? await driver.waitExit(handle, AbortSignal.timeout(5_000))
          : { cause: 'crashed' as const, detail: 'the host restarted' };
      await driver.kill(handle);
      await this.ended(record, handle, exit);
    } else if (record.starting) {
      const strays = await this.endUnfinished(record.instanceId);
      record.starting = false;
      await this.records.save(record);
      if (strays > 0)
        this.log.warn({ instanceId: record.instanceId, strays }, 'ended a machine whose start had been interrupted');
    }
    if (record.power === 'on' && record.bootId !== this.bootId) {
      this.log.info({ instanceId: record.instanceId }, 'the host restarted: starting the instance again');
      await this.turnOn(record).catch(async (error: unknown) => {
        this.log.error({ instanceId: record.instanceId, err: error }, 'an instance could not be started again');
        record.exit = {
          cause: 'crashed',
          detail: `it could not be started after the host's restart${error instanceof VerbFailure ? `: ${error.message}` : ''}`,
        };
        await this.records.save(record);
      });
    }
  }

  private watch(record: InstanceRecord, handle: VmHandle): void {
    const driver = this.driverOf(handle);
    const abort = new AbortController();
    const exit = driver.waitExit(handle, abort.signal);
    this.watches.set(record.instanceId, { handle, exit, abort });
    this.consoles.attach(record.instanceId, driver.serialSocket(handle), handle.user, handle.logDir);
    exit.then(
      (ended) => {
        if (abort.signal.aborted) return undefined;
        return this.mutex.run(record.instanceId, async () => {
          // The record of now: verbs since the start have replaced the one that was watched first.
          const current = this.records.get(record.instanceId);
          if (this.stopping || current?.handle !== handle) return;
          await driver.kill(handle);
          await this.ended(current, handle, ended);
          this.reporter.changed('instances');
        });
      },
      (error: unknown) => {
        if (!abort.signal.aborted)
          this.log.error({ err: error, instanceId: record.instanceId }, 'watching the machine failed');
      },
    );
  }

  private async ended(record: InstanceRecord, handle: VmHandle, exit: VmExit): Promise<void> {
    if (record.handle !== handle) return;
    this.watches.get(record.instanceId)?.abort.abort();
    this.watches.delete(record.instanceId);
    this.consoles.detach(record.instanceId);
    await this.drives.remove(record.instanceId);
    record.handle = null;
    record.paused = false;
    record.exit = exit;
    // Its guest wanted it off: a restart of the host does not bring it back.
    if (exit.cause === 'guest') record.power = 'off';
    await this.records.save(record);
    this.log.info({ instanceId: record.instanceId, cause: exit.cause, detail: exit.detail }, 'the machine ended');
  }

  private driverOf(handle: VmHandle): VmmDriver {
    return this.drivers.byKind(handle.driver);
  }

  private exclusive<T>(
    instanceId: string,
    signal: AbortSignal,
    work: (aborted: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return this.mutex.run(instanceId, async () => {
      const controller = new AbortController();
      this.current.set(instanceId, controller);
      try {
        return await work(AbortSignal.any([controller.signal, signal]));
      } finally {
        if (this.current.get(instanceId) === controller) this.current.delete(instanceId);
      }
    });
  }
}
