import { randomUUID } from 'node:crypto';
import type { Access } from '../../../src/core/auth/access';
import type { Permission } from '../../../src/core/auth/permissions/permissions';
import type { HostNetworkDocument } from '../../../src/modules/network/contract/host-document';
import type { Port } from '../../../src/modules/network/contract/network.api';
import {
  createSecurityGroup,
  createSecurityGroupRule,
  type SecurityGroupRule,
  type SecurityGroupWithRules,
} from '../../../src/modules/network/contract/security-group.api';
import { NetworkFixture } from './network-fixture';

export type AskedRule = Parameters<typeof createSecurityGroupRule.parse>[0];

/** Security groups on the management half of the network module alone, as a member of a project. */
export class GroupLab {
  private constructor(readonly f: NetworkFixture) {}

  static async start(): Promise<GroupLab> {
    return new GroupLab(await NetworkFixture.start());
  }

  access(project: string, permission: Permission = 'security-group:update'): Access {
    return this.f.access(project, permission);
  }

  create(project: string, name: string): Promise<SecurityGroupWithRules> {
    return this.f.db.database.tx((op) => this.f.groups.create(op, project, createSecurityGroup.parse({ name })));
  }

  addRule(project: string, group: string, asked: AskedRule): Promise<SecurityGroupRule> {
    const rule = createSecurityGroupRule.parse(asked);
    return this.f.db.database.tx((op) => this.f.groups.addRule(op, this.access(project), undefined, group, rule));
  }

  removeRule(project: string, id: string): Promise<void> {
    return this.f.db.database.tx((op) => this.f.groups.removeRule(op, this.access(project), id));
  }

  remove(project: string, ref: string): Promise<void> {
    return this.f.db.database.tx((op) => this.f.groups.remove(op, this.access(project), undefined, ref));
  }

  show(project: string, ref: string): Promise<SecurityGroupWithRules> {
    return this.f.groups.get(this.f.db.database.op, this.access(project), undefined, ref);
  }

  async portsOf(project: string, query: { securityGroup?: string; instance?: string } = {}): Promise<Port[]> {
    const access = this.access(project, 'port:read');
    return (await this.f.service.listPorts(this.f.db.database.op, access, undefined, { limit: 50, ...query })).items;
  }

  documentOf(host: string, change?: { attach: string } | { detach: string }): Promise<HostNetworkDocument> {
    return this.f.db.database.tx((op) => this.f.ports.document(op, host, change));
  }

  report(host: string, generation: number): Promise<void> {
    return this.f.db.database.tx((op) => this.f.sink.accept(op, host, { generation, failed: [] }));
  }

  /** An instance with one port on a host, in its document. */
  async boot(
    project: string,
    network: string,
    host: string,
    securityGroups?: string[],
  ): Promise<{ instance: string; port: string; address: string }> {
    const instance = randomUUID();
    const nic = { networkId: network, ...(securityGroups && { securityGroups }) };
    const [made] = await this.f.allocate(project, [nic], instance, host);
    await this.documentOf(host, { attach: instance });
    return { instance, port: made?.id ?? '', address: made?.address ?? '' };
  }

  movePort(project: string, port: string, securityGroups: string[]): Promise<Port> {
    const access = this.access(project, 'port:update');
    return this.f.db.database.tx((op) => this.f.portUpdates.update(op, access, port, { securityGroups }));
  }
}
