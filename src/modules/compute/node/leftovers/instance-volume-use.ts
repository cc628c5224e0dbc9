import { injectable } from 'inversify';
import { VolumeUse } from '../../../storage/contract/storage.ports';
import { InstanceRecords } from '../instances/instance-records';

/** Disks of the instances on record. */
@injectable()
export class InstanceVolumeUse extends VolumeUse {
  constructor(private readonly records: InstanceRecords) {
    super();
  }

  override uses(volumeId: string): boolean {
    return this.records.all().some(({ spec }) => spec.disks.some((disk) => disk.volumeId === volumeId));
  }
}
