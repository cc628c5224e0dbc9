import { HostConditionEntity } from './host-condition.entity';
import { HostInventoryEntity } from './host-inventory.entity';
import { HostTokenEntity } from './host-token.entity';
import { HostEntity } from './host.entity';

export const hostEntities = [HostEntity, HostConditionEntity, HostInventoryEntity, HostTokenEntity];
