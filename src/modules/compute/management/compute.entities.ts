import { FlavorEntity } from './flavors/flavor.entity';
import { InstanceRemainderEntity } from './instances/instance-remainder.entity';
import { InstanceEntity } from './instances/instance.entity';
import { SshKeyEntity } from './ssh-keys/ssh-key.entity';

export const computeEntities = [FlavorEntity, SshKeyEntity, InstanceEntity, InstanceRemainderEntity];
