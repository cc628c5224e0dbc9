import { injectable } from 'inversify';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import type { ObservedInstance } from '../../contract/instance.verbs';
import type { InstanceRecord } from './instance-record';
import { InstanceStore } from './instance-store';
import { InstanceUsers } from './instance-users';
import type { LostInstance } from './lost-instance';
import { observedLost, observedOf } from './observed-instance';

/** What is on record of this host's instances: on disk, and in memory as it is there. */
@injectable()
export class InstanceRecords {
  private readonly records = new Map<string, InstanceRecord>();
  /** Their record cannot be read: nothing is done to them but to remove them. */
  private readonly lost = new Map<string, LostInstance>();

  constructor(
    private readonly store: InstanceStore,
    private readonly users: InstanceUsers,
  ) {}

  /** From disk, when the agent starts. Returns those that can be read. */
  async load(): Promise<InstanceRecord[]> {
    const { records, lost } = await this.store.load();
    for (const instance of lost) {
      this.lost.set(instance.instanceId, instance);
      if (instance.user !== null) this.users.claim(instance.user, instance.instanceId);
    }
    // All that are taken are known before any is given.
    for (const record of records)
      if (record.user !== 0 && !this.users.claim(record.user, record.instanceId)) record.user = 0;
    for (const record of records) this.records.set(record.instanceId, record);
    return records;
  }

  get(instanceId: string): InstanceRecord | undefined {
    return this.records.get(instanceId);
  }

  /** Of all that can be read. */
  all(): InstanceRecord[] {
    return [...this.records.values()];
  }

  /** Those that cannot be read. */
  unreadable(): LostInstance[] {
    return [...this.lost.values()];
  }

  has(instanceId: string): boolean {
    return this.records.has(instanceId) || this.lost.has(instanceId);
  }

  /** Of all, those that cannot be read too. */
  ids(): string[] {
    return [...this.records.keys(), ...this.lost.keys()];
  }

  observed(): ObservedInstance[] {
    return [...[...this.records.values()].map(observedOf), ...[...this.lost.values()].map(observedLost)];
  }

  /** Written to disk before it counts. */
  async save(record: InstanceRecord): Promise<void> {
    record.revision += 1;
    await this.store.save(record);
    this.records.set(record.instanceId, record);
  }

  /** With everything that its folders hold. */
  async remove(instanceId: string): Promise<void> {
    await this.store.remove(instanceId);
    this.records.delete(instanceId);
    this.lost.delete(instanceId);
    this.users.release(instanceId);
  }

  /**
   * The record that there is of it. Throws `VerbFailure` `stale_generation`: a call that is older than what this host
   * has accepted changes nothing.
   */
  upTo(instanceId: string, generation: number): InstanceRecord | undefined {
    const known = this.records.get(instanceId);
    if (!known || generation >= known.generation) return known;
    throw new VerbFailure(
      'stale_generation',
      `Generation ${generation} is older than ${known.generation}, which this host has accepted.`,
      true,
    );
  }

  /**
   * Throws `VerbFailure` `record_unreadable`: a second machine must not be started on the disks of one that may run.
   */
  refuseLost(instanceId: string): void {
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
}
