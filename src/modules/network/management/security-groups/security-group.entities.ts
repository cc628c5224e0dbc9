import { PortSecurityGroupEntity } from './port-security-group.entity';
import { SecurityGroupDeliveryEntity } from './security-group-delivery.entity';
import { SecurityGroupRuleEntity } from './security-group-rule.entity';
import { SecurityGroupEntity } from './security-group.entity';

export const securityGroupEntities = [
  SecurityGroupEntity,
  SecurityGroupRuleEntity,
  PortSecurityGroupEntity,
  SecurityGroupDeliveryEntity,
];
