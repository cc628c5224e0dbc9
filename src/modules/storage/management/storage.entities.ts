import { VolumeEntity } from './volume.entity';

export const storageEntities = [VolumeEntity];
