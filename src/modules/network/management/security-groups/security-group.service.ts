import { injectable } from 'inversify';
import { v7 as timeOrderedUuid } from 'uuid';
import type { z } from 'zod';
import type { Access } from '../../../../core/auth/access';
import { Config } from '../../../../core/config/config';
import type { Op } from '../../../../core/db/rows/op';
import { inUse, namedUsers } from '../../../../core/errors/in-use';
import { conflict, nameTaken, notFound } from '../../../../core/errors/problem';
import type { Page } from '../../../../core/http/routes/pagination';
import { pickByRef } from '../../../../core/http/routes/pick-by-ref';
import { Projects } from '../../../identity/contract/identity.ports';
import type { NetworkConfig } from '../../contract/network.config';
import { protocolName } from '../../contract/ip-protocols';
import type {
  createSecurityGroup,
  createSecurityGroupRule,
  SecurityGroup,
  securityGroupListQuery,
  SecurityGroupRule,
  SecurityGroupWithRules,
  updateSecurityGroup,
} from '../../contract/security-group.api';
import { BehindHosts } from './behind-hosts';
import { PortGroups } from './port-groups';
import { ruleMatch } from './rule-checks';
import type { SecurityGroupEntity } from './security-group.entity';
import { SecurityGroupEvents } from './security-group.events';
import { type ShownSecurityGroup, SecurityGroupRepository } from './security-group.repository';
import { type ShownRule, SecurityGroupRuleRepository } from './security-group-rule.repository';

/** Security groups and their rules, for users. */
@injectable()
export class SecurityGroupService {
  constructor(
    private readonly groups: SecurityGroupRepository,
    private readonly rules: SecurityGroupRuleRepository,
    private readonly events: SecurityGroupEvents,
    private readonly portGroups: PortGroups,
    private readonly behind: BehindHosts,
    private readonly projects: Projects,
    private readonly config: Config,
  ) {}

  /** Without rules: nothing passes to and from its ports but what other groups of theirs allow. 409 `name_taken`, `too_many_security_groups`. */
  async create(
    op: Op,
    projectId: string,
    input: z.output<typeof createSecurityGroup>,
  ): Promise<SecurityGroupWithRules> {
    await this.projects.hold(op, projectId);
    const { groupsPerProject } = this.limits();
    // Whoever makes groups of a project holds its default one.
    await this.groups.lock(op, await this.portGroups.ensureDefault(op, projectId));
    if ((await this.groups.count(op, projectId)) >= groupsPerProject)
      throw conflict('too_many_security_groups', `A project has ${groupsPerProject} security groups at most.`, {});
    const id: string = timeOrderedUuid();
    const made = { id, projectId, ...input, isDefault: false, createdAt: new Date() };
    if (!(await this.groups.insert(op, made))) throw nameTaken('security group', input.name);
    return this.changed(op, 'created', id);
  }

  async get(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<SecurityGroupWithRules> {
    const { id } = await this.pick(op, access, projectId, ref);
    return this.shown(op, id);
  }

  async list(
    op: Op,
    access: Access,
    projectId: string | undefined,
    query: z.output<typeof securityGroupListQuery>,
  ): Promise<Page<SecurityGroup>> {
    const page = await this.groups.list(op, projectId === undefined ? access.projects : [projectId], query);
    return { items: page.rows.map(present), next: page.next };
  }

  /** 409 `name_taken`, `default_security_group` for a new name of the default one. */
  async update(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
    input: z.output<typeof updateSecurityGroup>,
  ): Promise<SecurityGroupWithRules> {
    const group = await this.pick(op, access, projectId, ref);
    if (group.isDefault && input.name !== undefined && input.name !== group.name) throw isDefault('renamed');
    const changes = {
      ...(input.name !== undefined && { name: input.name }),
      ...(input.description !== undefined && { description: input.description }),
    };
    if (Object.keys(changes).length === 0) return this.shown(op, group.id);
    await this.groups.update(op, group.id, changes);
    return this.changed(op, 'updated', group.id);
  }

  /** 409 `default_security_group`, `security_group_in_use`, which names who uses it. */
  async remove(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<void> {
    const group = await this.pick(op, access, projectId, ref);
    if (group.isDefault) throw isDefault('deleted');
    // From here on nobody joins it.
    await this.groups.lock(op, group.id);
    const { first, count } = await this.groups.users(op, group.id, namedUsers);
    if (count > 0) throw inUse('security_group_in_use', `The security group "${group.name}"`, first, count);
    const shown = await this.shown(op, group.id);
    await this.groups.remove(op, group.id);
    await this.events.changed(op, 'deleted', shown);
  }

  async listRules(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
  ): Promise<Page<SecurityGroupRule>> {
    const { id } = await this.pick(op, access, projectId, ref);
    return { items: (await this.rules.of(op, id)).map(presentRule), next: null };
  }

  /**
   * Hosts hear of it by tasks. 409 `rule_exists`, `too_many_rules`; 422 for what means nothing, and for a group that its
   * project does not have.
   */
  async addRule(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
    input: z.output<typeof createSecurityGroupRule>,
  ): Promise<SecurityGroupRule> {
    const group = await this.pick(op, access, projectId, ref);
    const match = ruleMatch(input);
    const [remote = null] =
      input.remoteGroup === null
        ? []
        : await this.portGroups.resolveOne(op, group.projectId, input.remoteGroup, 'body.remoteGroup');
    // With the members of the other: hosts that are told of the rule know all of them.
    if (!(await this.groups.lockAll(op, [group.id, ...(remote === null ? [] : [remote])])))
      throw notFound('security-group', group.id);
    const { rulesPerGroup } = this.limits();
    const id: string = timeOrderedUuid();
    const { description } = input;
    const made = { id, groupId: group.id, ...match, remoteGroupId: remote, description, createdAt: new Date() };
    if (!(await this.rules.insert(op, made)))
      throw conflict('rule_exists', `The security group "${group.name}" has a rule that says the same.`, {});
    if ((await this.rules.count(op, group.id)) > rulesPerGroup)
      throw conflict('too_many_rules', `A security group has ${rulesPerGroup} rules at most.`, {});
    await this.behind.mark(op, [group.id]);
    const { rules } = await this.changed(op, 'updated', group.id);
    const rule = rules.find((one) => one.id === id);
    if (!rule) throw new Error('the rule that was made is not there');
    return rule;
  }

  /** Flows that it alone allowed are cut. */
  async removeRule(op: Op, access: Access, id: string): Promise<void> {
    const rule = await this.rules.byId(op, id);
    const group = rule && (await this.groups.byId(op, rule.groupId));
    if (!group) throw notFound('security-group-rule', id);
    access.assert(group.projectId, 'security-group-rule', id);
    if (!(await this.groups.lockAll(op, [group.id])) || !(await this.rules.byId(op, id)))
      throw notFound('security-group-rule', id);
    // Before it is gone: hosts of those whose members it names are concerned too.
    await this.behind.mark(op, [group.id]);
    await this.rules.remove(op, id);
    await this.changed(op, 'updated', group.id);
  }

  private pick(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<SecurityGroupEntity> {
    return pickByRef('security-group', ref, projectId, access, {
      byId: (id) => this.groups.byId(op, id),
      named: (projects, name) => this.groups.named(op, projects, name),
    });
  }

  private async changed(op: Op, what: 'created' | 'updated', id: string): Promise<SecurityGroupWithRules> {
    const shown = await this.shown(op, id);
    await this.events.changed(op, what, shown);
    return shown;
  }

  private async shown(op: Op, id: string): Promise<SecurityGroupWithRules> {
    const group = await this.groups.shown(op, id);
    if (!group) throw notFound('security-group', id);
    return { ...present(group), rules: (await this.rules.of(op, id)).map(presentRule) };
  }

  private limits(): NetworkConfig['securityGroups'] {
    return this.config.section<NetworkConfig>('network').securityGroups;
  }
}

const isDefault = (what: string): Error =>
  conflict('default_security_group', `The default security group is never ${what}; its rules may be changed.`, {});

const present = (g: ShownSecurityGroup): SecurityGroup => ({
  id: g.id,
  projectId: g.projectId,
  name: g.name,
  description: g.description,
  isDefault: g.isDefault,
  status: g.converged === g.concerned ? 'active' : 'pending',
  hosts: { concerned: g.concerned, converged: g.converged },
  ruleCount: g.rules,
  portCount: g.ports,
  createdAt: g.createdAt.toISOString(),
});

const presentRule = (r: ShownRule): SecurityGroupRule => ({
  id: r.id,
  direction: r.direction,
  ethertype: r.ethertype,
  protocol: r.protocol === null ? null : protocolName(r.protocol),
  portMin: r.portMin,
  portMax: r.portMax,
  icmpType: r.icmpType,
  icmpCode: r.icmpCode,
  remoteCidr: r.remoteCidr,
  remoteGroup: r.remoteGroupId === null ? null : { id: r.remoteGroupId, name: r.remoteGroup ?? '' },
  description: r.description,
  createdAt: r.createdAt.toISOString(),
});
