import { BehindHosts } from './behind-hosts';
import { GroupMembersRepository } from './group-members.repository';
import { PortGroups } from './port-groups';
import { PortUpdateService } from './port-update.service';
import { SecurityGroupController } from './security-group.controller';
import { SecurityGroupEvents } from './security-group.events';
import { SecurityGroupRepository } from './security-group.repository';
import { SecurityGroupRuleRepository } from './security-group-rule.repository';
import { SecurityGroupService } from './security-group.service';

/** What the wiring binds of security groups. */
export const securityGroupParts = [
  SecurityGroupRepository,
  SecurityGroupRuleRepository,
  GroupMembersRepository,
  BehindHosts,
  PortGroups,
  SecurityGroupEvents,
  SecurityGroupService,
  PortUpdateService,
  SecurityGroupController,
];
