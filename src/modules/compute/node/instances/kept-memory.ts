import { injectable } from 'inversify';
import { memoryOf, type SuspendedMemory } from '../drivers/common/suspended-memory';
import { crashed } from '../drivers/vmm-exit';
import type { InstanceRecord } from './instance-record';
import { InstanceStore } from './instance-store';

/** What is kept of suspended instances on this host's disk. Who changes a record saves it. */
@injectable()
export class KeptMemory {
  constructor(private readonly store: InstanceStore) {}

  /** It is given up, or was used. */
  async drop(record: InstanceRecord): Promise<void> {
    if (!record.suspended) return;
    await this.of(record).empty();
    record.suspended = null;
  }

  /**
   * After a start that failed or was cut: it may have run since its memory was kept, and its disks are other ones then.
   * It goes on from there no more.
   */
  async dropUsed(record: InstanceRecord): Promise<void> {
    if (!record.suspended || (await this.of(record).isComplete())) return;
    await this.drop(record);
    record.exit = crashed('start-failed', 'it ended while it went on from what its host had kept of it');
    record.exitAt = new Date().toISOString();
  }

  private of({ instanceId, user }: InstanceRecord): SuspendedMemory {
    return memoryOf({ logDir: this.store.directory(instanceId), user });
  }
}
