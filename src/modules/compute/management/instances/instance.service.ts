import { injectable } from 'inversify';
import type { z } from 'zod';
import type { Access } from '../../../../core/auth/access';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, notFound, unprocessable } from '../../../../core/errors/problem';
import type { Page } from '../../../../core/http/routes/pagination';
import { pickByRef } from '../../../../core/http/routes/pick-by-ref';
import { Hosts } from '../../../host/contract/host.ports';
import { InstancePorts } from '../../../network/contract/network.ports';
import type { Instance, instanceListQuery } from '../../contract/compute.api';
import { guardRefusal } from '../../contract/instance-guards';
import { hostIdOf } from './host-ref';
import type { InstanceEntity } from './instance.entity';
import { InstancePresenter } from './instance.presenter';
import { InstanceRepository } from './instance.repository';

/** Instances that one search by address may find: their ids go into the statement of the list. */
const mostAtAddress = 1000;

/**
 * Instances that are there. How they come is `InstanceCreation`; what changes at once, `InstanceEditing`; what a task
 * does to them, `InstanceVerbs`.
 */
@injectable()
export class InstanceService {
  constructor(
    private readonly instances: InstanceRepository,
    private readonly presenter: InstancePresenter,
    private readonly hosts: Hosts,
    private readonly ports: InstancePorts,
  ) {}

  async list(
    op: Op,
    access: Access,
    projectId: string | undefined,
    filter: z.output<typeof instanceListQuery>,
  ): Promise<Page<Instance>> {
    const hostId =
      filter.host === undefined
        ? undefined
        : await hostIdOf(this.hosts, op, access.principal, filter.host, 'query.host');
    const projects = projectId === undefined ? access.projects : [projectId];
    const page = await this.instances.list(op, projects, filter, hostId, await this.atAddress(op, projects, filter.q));
    return { items: await this.presenter.many(op, page.rows, access.principal), next: page.next };
  }

  async get(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<Instance> {
    const instance = await pickByRef('instance', ref, projectId, access, {
      byId: (id) => this.instances.shown(op, id),
      named: (projects, name) => this.instances.shownNamed(op, projects, name),
    });
    return this.presenter.one(op, instance, access.principal);
  }

  /** The instance with permission checked; for the console and other readers. */
  pick(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<InstanceEntity> {
    return pickByRef('instance', ref, projectId, access, {
      byId: (id) => this.instances.byId(op, id),
      named: (projects, name) => this.instances.named(op, projects, name),
    });
  }

  /**
   * As `pick`, its row held until the transaction ends, for whoever changes something of the instance. 409
   * `instance_locked` when its users have locked it.
   */
  async lockByRef(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
    { evenLocked = false } = {},
  ): Promise<InstanceEntity> {
    const picked = await this.pick(op, access, projectId, ref);
    const instance = await this.instances.lock(op, picked.id);
    // Its deletion came to its end while this waited for the row.
    if (!instance) throw notFound('instance', ref);
    const refusal = evenLocked ? undefined : guardRefusal(instance, false);
    if (refusal) throw conflict(refusal.code, refusal.detail, { state: instance.state });
    return instance;
  }

  private async atAddress(op: Op, projects: 'all' | readonly string[], q: string | undefined): Promise<string[]> {
    if (q === undefined) return [];
    const found = await this.ports.instancesAt(op, projects, q, mostAtAddress + 1);
    if (found.length > mostAtAddress)
      throw unprocessable(
        'query.q',
        'too_many_addresses',
        `More than ${mostAtAddress} instances have an address that begins with ${q}: give more of it.`,
      );
    return found;
  }
}
