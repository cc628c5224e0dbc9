import { injectable, multiInject, optional } from 'inversify';
import { Config } from '../../../../core/config/config';
import type { Access } from '../../../../core/auth/access';
import type { Op } from '../../../../core/db/rows/op';
import { inUse, namedUsers } from '../../../../core/errors/in-use';
import { conflict, notFound } from '../../../../core/errors/problem';
import { Outbox } from '../../../../core/events/outbox';
import type { Page } from '../../../../core/http/routes/pagination';
import { Workflows } from '../../../../core/workflow/request/workflows';
import { InventoryParts } from '../../../../core/m2m/reports/inventory-table';
import { Breakers } from '../../../../core/m2m/management/breakers';
import { CertificateAuthority } from '../../../../core/m2m/ca/certificate-authority';
import type { Host, HostDetail, HostListQuery } from '../../contract/host.api';
import type { HostConfig } from '../../contract/host.config';
import { HostClaims, HostUsage } from '../../contract/host.ports';
import type { HostConditionEntity } from '../conditions/host-condition.entity';
import { HostConditions } from '../conditions/host-conditions.service';
import type { HostEntity } from './host.entity';
import { presentHost, unused } from './host.presenter';
import { HostRepository } from './host.repository';
import { TestHostWorkflow } from '../workflows/test-host.workflow';

/** Hosts for operators. */
@injectable()
export class HostService {
  private readonly noParts: Readonly<Record<string, never[]>>;
  private readonly storeParts: readonly string[];

  constructor(
    private readonly hosts: HostRepository,
    private readonly conditions: HostConditions,
    private readonly authority: CertificateAuthority,
    private readonly breakers: Breakers,
    private readonly outbox: Outbox,
    private readonly config: Config,
    private readonly workflows: Workflows,
    private readonly testing: TestHostWorkflow,
    private readonly claims: HostClaims,
    declared: InventoryParts,
    @multiInject(HostUsage) @optional() private readonly usages: HostUsage[] = [],
  ) {
    this.storeParts = Object.keys(declared.table).filter((part) => declared.table[part]?.store !== undefined);
    this.noParts = Object.fromEntries(Object.keys(declared.table).map((part) => [part, []]));
  }

  async list(op: Op, query: HostListQuery): Promise<Page<Host>> {
    const { rows, next } = await this.hosts.list(op, query);
    return { items: await this.present(op, rows), next };
  }

  async get(op: Op, ref: string): Promise<HostDetail> {
    const host = await this.require(op, ref);
    return this.detail(op, host);
  }

  /** Into or out of maintenance: nothing new is placed there, what runs goes on. */
  async update(
    op: Op,
    ref: string,
    change: { maintenance?: boolean | undefined; reason?: string | undefined },
  ): Promise<HostDetail> {
    const host = await this.require(op, ref);
    if (change.maintenance !== undefined) {
      const message = change.maintenance ? (change.reason ?? 'it is in maintenance') : '';
      await this.conditions.apply(op, host.id, [
        {
          type: 'Maintenance',
          status: change.maintenance ? 'true' : 'false',
          reason: change.maintenance ? 'SetByOperator' : 'None',
          message,
        },
      ]);
    }
    return this.get(op, host.id);
  }

  /**
   * Has the host try its virtual machine monitors anew: a trial that failed once is otherwise repeated at growing
   * intervals.
   */
  async test(op: Op, caller: { access: Access; requestId: string }, ref: string): Promise<{ taskId: string }> {
    const host = await this.require(op, ref);
    const { id } = await this.workflows.start(
      op,
      this.testing.definition,
      { hostId: host.id },
      {
        projectId: null,
        subject: { kind: 'host', id: host.id, name: host.name },
        createdBy: caller.access.principal.id,
        requestId: caller.requestId,
      },
    );
    return { taskId: id };
  }

  /** Removes an empty host and revokes its certificates. 409 `host_in_use` while anything is on it. */
  async remove(op: Op, ref: string): Promise<void> {
    const found = await this.require(op, ref);
    const host = await this.hosts.lock(op, found.id);
    if (!host) throw notFound('host', ref);
    for (const usage of this.usages) {
      const { first, count } = await usage.users(op, host.id, namedUsers);
      if (count > 0) throw inUse('host_in_use', `The host "${host.name}"`, first, count);
    }
    // A claim without an instance on the host: a create has chosen it and is about to come.
    const claimed = (await this.claims.claimed(op, [host.id])).get(host.id)?.instances ?? 0;
    if (claimed > 0)
      throw conflict(
        'host_in_use',
        `The host "${host.name}" is about to get ${claimed === 1 ? 'an instance' : `${claimed} instances`}.`,
        { users: [], count: claimed },
      );
    await this.authority.revokeHost(op, host.id, 'host removed');
    await this.hosts.remove(op, host.id);
    await this.outbox.publish(op, {
      type: 'host.deleted',
      projectId: null,
      subject: { kind: 'host', id: host.id },
      data: { id: host.id, name: host.name },
    });
    op.afterCommit(() => this.breakers.forget(host.id));
  }

  private async require(op: Op, ref: string): Promise<HostEntity> {
    const host = await this.hosts.find(op, ref);
    if (!host) throw notFound('host', ref);
    return host;
  }

  private async detail(op: Op, host: HostEntity): Promise<HostDetail> {
    const [presented] = await this.present(op, [host]);
    if (!presented) throw notFound('host', host.id);
    const inventory = await this.hosts.inventory(op, host.id);
    // What was reported before a part was there does not have it.
    return { ...presented, inventory: inventory && { ...this.noParts, ...inventory } };
  }

  private async present(op: Op, hosts: HostEntity[]): Promise<Host[]> {
    const ids = hosts.map((host) => host.id);
    const byHost = new Map<string, HostConditionEntity[]>();
    for (const condition of await this.hosts.conditions(op, ids))
      byHost.set(condition.hostId, [...(byHost.get(condition.hostId) ?? []), condition]);
    const used = await this.claims.claimed(op, ids);
    const config = this.config.section<HostConfig>('host');
    return hosts.map((host) =>
      presentHost(
        host,
        byHost.get(host.id) ?? [],
        used.get(host.id) ?? unused,
        this.breakers.state(host.id),
        config,
        this.storeParts,
      ),
    );
  }
}
