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
import { InstanceStore } from './instance-store';
import type { LostInstance } from './lost-instance';
import { InstanceUsers } from './instance-users';
import { observedLost, observedOf } from './observed-instance';
import { VmSpecs } from './vm-specs';
import { endProcessesNaming } from '../../../../core/host/processes/processes-naming';

type EnsureArgs = z.output<typeof instanceEnsure.args>;

interface Watch {
  handle: VmHandle;
  exit: Promise<VmExit>;
  abort: AbortController;
}

/**
 * The instances of this host: one call at a time for each, every effect written down before and after, VMMs adopted
 * after a restart.
 */
@injectable()
export class InstanceManager extends Service {
  private readonly records = new Map<string, InstanceRecord>();
  /** Their record cannot be read: nothing is done to them but to remove them. */
  private readonly lost = new Map<string, LostInstance>();
  private readonly watches = new Map<string, Watch>();
  /** Of the call that works on an instance now: a removal does not wait for a stop's grace period. */
  private readonly current = new Map<string, AbortController>();
  private readonly mutex = new KeyedMutex();
  private readonly bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  private readonly log: Logger;
  private stopping = false;

  constructor(
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
    const { records, lost } = await this.store.load();
    for (const instance of lost) {
      this.lost.set(instance.instanceId, instance);
      if (instance.user !== null) this.users.claim(instance.user, instance.instanceId);
    }
    // All that are taken are known before any is given.
    for (const record of records)
      if (record.user !== 0 && !this.users.claim(record.user, record.instanceId)) record.user = 0;
    for (const record of records) {
      this.records.set(record.instanceId, record);
      await this.mutex
        .run(record.instanceId, () => this.adopt(record))
        .catch((error: unknown) =>
          this.log.error({ err: error, instanceId: record.instanceId }, 'adopting the instance failed'),
        );
    }
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
      this.refuseLost(args.instanceId);
      const known = this.refuseStale(args.instanceId, args.generation);
      const record: InstanceRecord = {
        ...(known ?? {
          instanceId: args.instanceId,
          revision: 0,
          user: 0,
          starting: false,
          handle: null,
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
        await this.save(record);
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
      this.refuseLost(instanceId);
      const record = this.records.get(instanceId);
      if (!record || (!record.handle && record.power === 'off'))
        throw new VerbFailure('instance_not_running', 'The instance does not run on this host.', true);
      // Off although it is wanted on: an earlier call of this reboot was cut between its two halves.
      if (!record.handle) await this.turnOn(record);
      else if (force) await this.driverOf(record.handle).reset(record.handle);
      else {
        await this.turnOff(record, graceSeconds, aborted);
        await this.turnOn(record);
      }
      return observedOf(record);
    });
  }

  /** Every trace gone, whatever was there. Interrupts what works on the instance now. */
  async remove(instanceId: string, generation: number): Promise<void> {
    this.refuseStale(instanceId, generation);
    this.current.get(instanceId)?.abort();
    await this.mutex.run(instanceId, async () => {
      const record = this.refuseStale(instanceId, generation);
      if (record?.handle) {
        const watch = this.watches.get(instanceId);
        watch?.abort.abort();
        this.watches.delete(instanceId);
        await this.driverOf(record.handle).kill(record.handle);
      }
      // A VMM that nobody has on record can only be there if a start was interrupted, or if the record itself is gone.
      if (!record || record.starting) await endProcessesNaming(this.store.runDirectory(instanceId));
      this.consoles.close(instanceId);
      await this.store.remove(instanceId);
      this.records.delete(instanceId);
      this.lost.delete(instanceId);
      this.users.release(instanceId);
    });
  }

  /** For a host that is given up: whatever is on record here goes. */
  async removeAll(): Promise<void> {
    const { records, lost } = await this.store.load();
    for (const record of records) this.records.set(record.instanceId, record);
    for (const { instanceId } of [...records, ...lost]) await this.remove(instanceId, Number.MAX_SAFE_INTEGER);
  }

  list(): ObservedInstance[] {
    return [...[...this.records.values()].map(observedOf), ...[...this.lost.values()].map(observedLost)];
  }

  has(instanceId: string): boolean {
    return this.records.has(instanceId) || this.lost.has(instanceId);
  }

  /** The record that there is of it. A call that is older than what this host has accepted changes nothing. */
  private refuseStale(instanceId: string, generation: number): InstanceRecord | undefined {
    const known = this.records.get(instanceId);
    if (!known || generation >= known.generation) return known;
    throw new VerbFailure(
      'stale_generation',
      `Generation ${generation} is older than ${known.generation}, which this host has accepted.`,
      true,
    );
  }

  /** A second machine must not be started on the disks of one that may run. */
  private refuseLost(instanceId: string): void {
    const lost = this.lost.get(instanceId);
    if (!lost) return;
    throw new VerbFailure(
      'record_unreadable',
      'The host cannot read its record of the instance, and leaves it as it is.',
      true,
      {},
      { detail: lost.reason },
    );
  }

  private async turnOn(record: InstanceRecord): Promise<void> {
    if (record.handle) {
      if ((await this.driverOf(record.handle).state(record.handle)) !== 'stopped') return this.save(record);
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
    await this.save(record);
    await mkdir(spec.runDir, { recursive: true, mode: 0o700 });
    try {
      if (record.spec.configDrive !== undefined) await this.drives.make(record.instanceId, record.spec.configDrive);
      const handle = await driver.start(spec);
      record.handle = handle;
      record.exit = null;
      this.watch(record, handle);
    } catch (error) {
      await this.drives.remove(record.instanceId);
      throw error;
    } finally {
      record.starting = false;
      await this.save(record);
    }
  }

  private async turnOff(record: InstanceRecord, graceSeconds: number, aborted: AbortSignal): Promise<void> {
    const handle = record.handle;
    if (!handle) {
      if (record.starting) await this.endUnfinished(record.instanceId);
      if (record.exit?.cause === 'crashed') record.exit = { cause: 'operator', detail: '' };
      record.starting = false;
      return this.save(record);
    }
    const driver = this.driverOf(handle);
    if (graceSeconds > 0 && (await driver.state(handle)) !== 'stopped') {
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
      if ((await driver.state(handle)) !== 'stopped') {
        this.log.info({ instanceId: record.instanceId, pid: handle.process.pid }, 'adopted a running instance');
        return this.watch(record, handle);
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
      await this.save(record);
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
        await this.save(record);
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
    record.exit = exit;
    // Its guest wanted it off: a restart of the host does not bring it back.
    if (exit.cause === 'guest') record.power = 'off';
    await this.save(record);
    this.log.info({ instanceId: record.instanceId, cause: exit.cause, detail: exit.detail }, 'the machine ended');
  }

  private driverOf(handle: VmHandle): VmmDriver {
    return this.drivers.byKind(handle.driver);
  }

  private async save(record: InstanceRecord): Promise<void> {
    record.revision += 1;
    await this.store.save(record);
    this.records.set(record.instanceId, record);
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
