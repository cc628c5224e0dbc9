import { FlavorEntity } from './flavor.entity';
import { InstanceRemainderEntity } from './instance-remainder.entity';
import { InstanceEntity } from './instance.entity';
import { SshKeyEntity } from './ssh-key.entity';

export const computeEntities = [FlavorEntity, SshKeyEntity, InstanceEntity, InstanceRemainderEntity];
