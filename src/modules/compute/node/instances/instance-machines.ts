import { injectable } from 'inversify';
import { mkdirSync, readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { Config } from '../../../../core/config/config';
import { KeyedMutex } from '../../../../core/host/keyed-mutex';
import { removeCgroup } from '../../../../core/host/processes/cgroup';
import { endProcessesNaming } from '../../../../core/host/processes/processes-naming';
import { ObservedReporter } from '../../../../core/m2m/reports/observed';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import { Logging } from '../../../../core/telemetry/logging';
import { ConsoleHub } from '../consoles/console.hub';
import type { GuestEvent } from '../drivers/guest-event';
import type { VmHandle, VmmDriver, VmSpec } from '../drivers/vmm-driver';
import { VmmDrivers } from '../drivers/vmm-drivers';
import { crashed, forcedExit, panickedExit, poweredOff, watchdogExit, type VmExit } from '../drivers/vmm-exit';
import { ConfigDrives } from '../seeds/config-drive';
import { askToPowerOff } from './ask-to-power-off';
import { isKnown, newGuest, withEvent, within, type Budget } from './guest-life';
import type { InstanceRecord } from './instance-record';
import { InstanceCpus } from './instance-cpus';
import { InstanceRecords } from './instance-records';
import { InstanceStore } from './instance-store';
import { InstanceUsers } from './instance-users';
import { KeptMemory } from './kept-memory';
import { actionAfter, actionAt } from './machine-policy';
import { restartBudget } from './restart-budget';
import { VmSpecs } from './vm-specs';

interface Watch {
  handle: VmHandle;
  exit: Promise<VmExit>;
  abort: AbortController;
}

/** What comes of one whose host has restarted. */
const afterBoot = ({ power, spec }: InstanceRecord): string => {
  if (power === 'off') return '';
  return spec.rescue === true ? ' while it was in rescue' : '; it is started again in its turn';
};

/** Milliseconds for the VMM of a machine that has stopped to end too. */
const collectDeadline = 5_000;

/**
 * The machines of this host's instances: turned on, watched, turned off, every effect on record before and after. Whoever
 * calls holds the instance (`exclusively`).
 */
@injectable()
export class InstanceMachines {
  /** Of this boot of the host. */
  readonly bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  private readonly watches = new Map<string, Watch>();
  private readonly mutex = new KeyedMutex();
  private readonly log: Logger;
  private readonly budget: Budget;
  private failed: (record: InstanceRecord) => Promise<void> = () => Promise.resolve();
  private stopping = false;

  constructor(
    config: Config,
    private readonly records: InstanceRecords,
    private readonly store: InstanceStore,
    private readonly users: InstanceUsers,
    private readonly cpus: InstanceCpus,
    private readonly drivers: VmmDrivers,
    private readonly specs: VmSpecs,
    private readonly drives: ConfigDrives,
    private readonly kept: KeptMemory,
    private readonly consoles: ConsoleHub,
    private readonly reporter: ObservedReporter,
    logging: Logging,
  ) {
    this.log = logging.for('instances');
    this.budget = restartBudget(config);
  }

  /** One at a time for each instance. */
  exclusively<T>(instanceId: string, work: () => Promise<T>): Promise<T> {
    return this.mutex.run(instanceId, work);
  }

  /** Lets go of everything; no guest notices. */
  letGo(): void {
    this.stopping = true;
    for (const watch of this.watches.values()) watch.abort.abort();
    this.watches.clear();
  }

  driverOf(handle: VmHandle): VmmDriver {
    return this.drivers.byKind(handle.driver);
  }

  /** After its guest stood still. A guest without an agent keeps the time that it has; nothing fails by it. */
  async rightClock({ instanceId, handle }: InstanceRecord): Promise<void> {
    if (!handle) return;
    const right = await this.driverOf(handle)
      .setClock(handle)
      .catch((error: unknown) => {
        this.log.warn({ err: error, instanceId }, "the guest's clock could not be set");
        return false;
      });
    if (right) this.log.debug({ instanceId }, "the guest's clock was set");
  }

  async turnOn(record: InstanceRecord): Promise<void> {
    if (record.handle) {
      if ((await this.driverOf(record.handle).state(record.handle)) !== 'stopped') return this.records.save(record);
      await this.collect(record, record.handle);
    }
    if (record.starting) {
      await this.endUnfinished(record.instanceId);
      await this.kept.dropUsed(record);
    }
    const kind = record.suspended?.driver ?? record.spec.vmm;
    const driver =
      kind === null
        ? await this.drivers.best({ ...record.spec, shares: record.spec.shares?.wanted })
        : this.drivers.byKind(kind);
    if (record.user === 0) record.user = this.users.allocate(record.instanceId);
    const spec = await this.specFor(record, driver);
    record.starting = true;
    record.bootId = this.bootId;
    await this.records.save(record);
    mkdirSync(spec.runDir, { recursive: true, mode: 0o700 });
    try {
      if (record.spec.configDrive !== undefined) await this.drives.make(record.instanceId, record.spec.configDrive);
      const handle = await driver.start(spec);
      record.handle = handle;
      record.paused = false;
      record.startedAt = handle.startedAt;
      record.guest = newGuest;
      record.lost = [];
      // A new machine has all of its memory; one that goes on has what it had.
      if (!record.suspended) record.balloonBytes = null;
      record.ballooning = false;
      await this.kept.drop(record);
      this.watch(record, handle);
    } catch (error) {
      await this.drives.remove(record.instanceId);
      await this.kept.dropUsed(record);
      throw error;
    } finally {
      record.starting = false;
      if (!record.handle) this.freeCpus(record);
      await this.records.save(record);
    }
  }

  /** What its next machine is made of, with the CPUs that it has for itself. */
  private async specFor(record: InstanceRecord, driver: VmmDriver): Promise<VmSpec> {
    record.cpus = await this.cpus.allocate(record);
    try {
      const cpus = await this.cpus.placeOf(record);
      const spec: VmSpec = {
        ...(await this.specs.of(record)),
        ...(cpus && { cpus }),
        ...(record.suspended && { suspended: true }),
      };
      driver.validate(spec);
      return spec;
    } catch (error) {
      this.freeCpus(record);
      throw error;
    }
  }

  /** Without a machine it has none for itself, unless it is to go on with them. Whoever calls saves the record. */
  freeCpus(record: InstanceRecord): void {
    if (record.suspended) return;
    record.cpus = null;
    this.cpus.release(record.instanceId);
  }

  /** Those on record are theirs, before any is given. Where two say the same one, the second has none. */
  claimCpus(records: readonly InstanceRecord[]): void {
    for (const { instanceId, cpus } of this.records.unreadable()) this.cpus.take(instanceId, cpus);
    for (const record of records) {
      if (this.cpus.claim(record)) continue;
      this.log.error(
        { instanceId: record.instanceId, cpus: record.cpus },
        'another instance has its CPUs on record too',
      );
      record.cpus = null;
    }
  }

  /** Its threads are on the CPUs on record, whatever became of them while no agent was there. */
  async confine(record: InstanceRecord, handle: VmHandle): Promise<void> {
    const { instanceId } = record;
    try {
      const cpus = await this.cpus.placeOf(record);
      if (cpus && (await this.driverOf(handle).confine(handle, cpus)))
        this.log.warn({ instanceId, ...cpus }, 'the machine was on other CPUs: it was brought back');
    } catch (error) {
      this.log.error({ err: error, instanceId }, 'the machine could not be kept to its CPUs');
    }
  }

  async turnOff(record: InstanceRecord, graceSeconds: number, aborted: AbortSignal): Promise<void> {
    const handle = record.handle;
    if (!handle) {
      if (record.starting) await this.endUnfinished(record.instanceId);
      await this.kept.drop(record);
      this.freeCpus(record);
      // It is to be off, and is: no failure any more.
      if (record.exit?.cause === 'crashed') record.exit = { ...record.exit, cause: 'operator' };
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
      // However it ended meanwhile, it was to end.
      if (exit)
        return this.ended(record, handle, { ...(exit.cause === 'guest' ? poweredOff(true) : exit), cause: 'operator' });
    }
    this.unwatch(record.instanceId);
    await driver.kill(handle);
    await this.ended(record, handle, forcedExit);
  }

  /** A machine that stood still would stand still after it too. */
  async reset(record: InstanceRecord, handle: VmHandle): Promise<void> {
    const driver = this.driverOf(handle);
    await driver.reset(handle);
    if (!record.paused) return;
    await driver.resume(handle);
    record.paused = false;
    await this.records.save(record);
  }

  /** Its process and all that belongs to it, at once; nothing is recorded, for the record goes too. */
  async destroy(instanceId: string, record: InstanceRecord | undefined): Promise<void> {
    if (record?.handle) {
      this.unwatch(instanceId);
      await this.driverOf(record.handle).kill(record.handle);
    }
    // A VMM that nobody has on record can only be there if a start was interrupted, or if the record itself is gone.
    if (!record || record.starting) await endProcessesNaming(this.store.runDirectory(instanceId));
    this.cpus.release(instanceId);
    await this.specs.forgetDisks(instanceId);
    // Of a start that was cut; the driver has removed that of a machine.
    await removeCgroup(instanceId);
    this.consoles.close(instanceId);
  }

  /** After a start that was cut: ends what it may have left. Returns how many processes that were. */
  async endUnfinished(instanceId: string): Promise<number> {
    const strays = await endProcessesNaming(this.store.runDirectory(instanceId));
    await removeCgroup(instanceId);
    await this.drives.remove(instanceId);
    return strays;
  }

  /** Of a machine that has stopped while nobody watched it: how, and then what is left of it goes. */
  async collect(record: InstanceRecord, handle: VmHandle): Promise<void> {
    const driver = this.driverOf(handle);
    const exit =
      record.bootId === this.bootId
        ? await this.howItEnded(driver, handle, record)
        : crashed('host-restarted', `its host restarted${afterBoot(record)}`);
    await driver.kill(handle);
    await this.ended(record, handle, exit);
  }

  /** From now on its end is noticed, and its console kept. */
  watch(record: InstanceRecord, handle: VmHandle): void {
    const driver = this.driverOf(handle);
    const abort = new AbortController();
    const exit = driver.waitExit(handle, abort.signal, (event) => this.heard(record.instanceId, handle, event));
    this.watches.set(record.instanceId, { handle, exit, abort });
    this.consoles.attach(record.instanceId, driver.serialSocket(handle), handle.user, handle.logDir);
    exit.then(
      (ended) => {
        if (abort.signal.aborted) return undefined;
        return this.exclusively(record.instanceId, async () => {
          // The record of now: verbs since the start have replaced the one that was watched first.
          const current = this.records.get(record.instanceId);
          if (this.stopping || current?.handle !== handle) return;
          await driver.kill(handle);
          await this.ended(current, handle, ended);
          await this.failed(current);
          this.reporter.changed('instances');
        });
      },
      (error: unknown) => {
        if (!abort.signal.aborted)
          this.log.error({ err: error, instanceId: record.instanceId }, 'watching the machine failed');
      },
    );
  }

  /** What is done about a machine that has ended by a failure; called with the instance held. */
  whenFailed(failed: (record: InstanceRecord) => Promise<void>): void {
    this.failed = failed;
  }

  /** What its guest did goes on record, and what was asked for such a case is done. */
  private heard(instanceId: string, handle: VmHandle, event: GuestEvent): void {
    const note = async (): Promise<void> => {
      const record = this.records.get(instanceId);
      if (this.stopping || record?.handle !== handle || isKnown(record.guest, event)) return;
      record.guest = withEvent(record.guest, event, this.budget);
      const exit = this.endsBy(record, event);
      await this.records.save(record);
      this.log.warn({ instanceId, event: event.kind }, 'the guest told of itself');
      if (exit) {
        this.unwatch(instanceId);
        await this.driverOf(handle).kill(handle);
        await this.ended(record, handle, exit);
        await this.failed(record);
      }
      this.reporter.changed('instances');
    };
    this.exclusively(instanceId, note).catch((error: unknown) =>
      this.log.error({ err: error, instanceId }, 'what the guest did could not be noted'),
    );
  }

  /**
   * What its guest did ends it: a panic, unless it is only to be told of; a watchdog that has restarted it too often. That
   * it restarted it counts, for whoever restarts itself inside of its VMM fails as much as who ends.
   */
  private endsBy(record: InstanceRecord, { kind, at, over, stopped }: GuestEvent): VmExit | null {
    if (kind === 'reset' || stopped === true) return null;
    const action = actionAt(kind, record.spec);
    if (kind === 'panic') return action === 'notify' || over === true ? null : panickedExit;
    if (action !== 'restart') return null;
    const made = within(record.restarts, this.budget, at);
    if (made.length >= this.budget.count) return watchdogExit;
    record.restarts = [...made, at];
    return null;
  }

  private howItEnded(driver: VmmDriver, handle: VmHandle, record: InstanceRecord): Promise<VmExit> {
    const deadline = AbortSignal.timeout(collectDeadline);
    const heard = (event: GuestEvent): void => void (record.guest = withEvent(record.guest, event, this.budget));
    return driver.waitExit(handle, deadline, heard).catch((error: unknown) => {
      if (!deadline.aborted) throw error;
      return crashed('vmm-error', 'its machine had stopped, and its VMM had not');
    });
  }

  /** Whoever ended it: that it did, and how, goes on record. */
  async ended(record: InstanceRecord, handle: VmHandle, exit: VmExit): Promise<void> {
    if (record.handle !== handle) return;
    this.unwatch(record.instanceId);
    this.consoles.detach(record.instanceId);
    await this.drives.remove(record.instanceId);
    record.handle = null;
    record.paused = false;
    record.leaving = [];
    record.lost = [];
    record.resizing = false;
    record.dumping = false;
    record.mayGiveLate = false;
    record.ballooning = false;
    if (!record.suspended) record.balloonBytes = null;
    this.freeCpus(record);
    record.exit = exit;
    record.exitAt = new Date().toISOString();
    // Its guest wanted it off, or its policy: a restart of the host does not bring it back.
    if (exit.cause === 'guest' || (exit.cause === 'crashed' && actionAfter(exit.reason, record.spec) === 'stop'))
      record.power = 'off';
    await this.records.save(record);
    const { cause, reason, code, signal, detail } = exit;
    this.log.info({ instanceId: record.instanceId, cause, reason, code, signal, detail }, 'the machine ended');
  }

  /** Its end is not noticed any more. */
  unwatch(instanceId: string): void {
    this.watches.get(instanceId)?.abort.abort();
    this.watches.delete(instanceId);
  }
}
