import { FlavorEntity } from './flavors/flavor.entity';
import { InstanceTombstoneEntity } from './instances/instance-tombstone.entity';
import { InstanceEntity } from './instances/instance.entity';
import { SshKeyEntity } from './ssh-keys/ssh-key.entity';

export const computeEntities = [FlavorEntity, SshKeyEntity, InstanceEntity, InstanceTombstoneEntity];
