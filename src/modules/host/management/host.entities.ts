import { HostConditionEntity } from './conditions/host-condition.entity';
import { HostInventoryEntity } from './hosts/host-inventory.entity';
import { HostLeftoversEntity } from './leftovers/host-leftovers.entity';
import { HostTokenEntity } from './tokens/host-token.entity';
import { HostEntity } from './hosts/host.entity';

export const hostEntities = [
  HostEntity,
  HostConditionEntity,
  HostInventoryEntity,
  HostLeftoversEntity,
  HostTokenEntity,
];
