import { VolumeAttachmentEntity } from './volume-attachment.entity';
import { VolumeTombstoneEntity } from './volume-tombstone.entity';
import { VolumeEntity } from './volume.entity';

export const storageEntities = [VolumeEntity, VolumeAttachmentEntity, VolumeTombstoneEntity];
