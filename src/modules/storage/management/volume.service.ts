import { injectable } from 'inversify';
import { v7 as timeOrderedUuid } from 'uuid';
import type { z } from 'zod';
import type { Access } from '../../../core/auth/access';
import type { Op } from '../../../core/db/rows/op';
import { conflict, nameTaken, notFound } from '../../../core/errors/problem';
import type { Page } from '../../../core/http/routes/pagination';
import { pickByRef } from '../../../core/http/routes/pick-by-ref';
import type { WorkflowDefinition } from '../../../core/workflow/definition/definition';
import { Workflows } from '../../../core/workflow/request/workflows';
import { Hosts } from '../../host/contract/host.ports';
import { seesHosts } from '../../host/contract/sees-hosts';
import { Projects } from '../../identity/contract/identity.ports';
import { Placement } from '../../scheduler/contract/scheduler.ports';
import { poolNeed, poolStore } from '../contract/pool-needs';
import type { createVolume, updateVolume, Volume, volumeListQuery } from '../contract/storage.api';
import { InstanceHosts, Volumes } from '../contract/storage.ports';
import { attachedElsewhere, rootVolume } from './volume-refusals';
import { VolumeEvents } from './volume.events';
import { presentVolume } from './volume.presenter';
import { VolumeRepository, type ShownVolume } from './volume.repository';
import { CreateVolumeWorkflow } from './workflows/create-volume.workflow';
import { DeleteVolumeWorkflow } from './workflows/delete-volume.workflow';

/** Who asks, and for a volume of which name or id. */
export interface Caller {
  access: Access;
  requestId: string;
}

interface Accepted {
  volume: Volume;
  taskId: string;
}

const noPool = (pool: string): string =>
  `No host has the storage pool "${pool.slice(0, 63)}". Leave it out, or ask an administrator.`;

/** Volumes for users: made, seen, renamed and deleted. Instances get and lose them by verbs of instances. */
@injectable()
export class VolumeService {
  constructor(
    private readonly volumes: VolumeRepository,
    private readonly roots: Volumes,
    private readonly events: VolumeEvents,
    private readonly hosts: Hosts,
    private readonly instances: InstanceHosts,
    private readonly projects: Projects,
    private readonly placement: Placement,
    private readonly workflows: Workflows,
    private readonly creation: CreateVolumeWorkflow,
    private readonly deletion: DeleteVolumeWorkflow,
  ) {}

  /** 409 `name_taken`, `no_host`; 404 for the instance, and 409 `instance_has_no_host`. */
  async create(op: Op, caller: Caller, projectId: string, input: z.output<typeof createVolume>): Promise<Accepted> {
    await this.projects.hold(op, projectId);
    const near = input.instance === undefined ? undefined : await this.instances.hostOf(op, projectId, input.instance);
    const pool = input.pool ?? this.roots.rootPool();
    const id = timeOrderedUuid();
    const bytes = this.roots.sizeFor(input.bytes);
    const { hostId } = await this.placement.claimDisk(
      op,
      {
        volumeId: id,
        projectId,
        bytes,
        store: poolStore(pool),
        needs: [poolNeed(pool, noPool(pool))],
        ...(near !== undefined && { hostId: near }),
      },
      seesHosts(caller.access.principal),
    );
    const volume: ShownVolume = {
      id,
      projectId,
      name: input.name,
      role: 'data',
      state: 'creating',
      bytes,
      pool,
      hostId,
      instanceId: null,
      imageId: null,
      protected: input.protected,
      createdAt: new Date(),
      attachments: [],
    };
    if (!(await this.volumes.insert(op, volume))) throw nameTaken('volume', input.name);
    await this.events.changed(op, 'created', volume);
    const task = await this.start(op, caller, volume, this.creation.definition, { volumeId: id, hostId, pool, bytes });
    return { volume: await this.present(op, caller.access, volume), taskId: task.id };
  }

  async list(
    op: Op,
    access: Access,
    projectId: string | undefined,
    query: z.output<typeof volumeListQuery>,
  ): Promise<Page<Volume>> {
    const page = await this.volumes.list(op, projectId === undefined ? access.projects : [projectId], query);
    const names = seesHosts(access.principal)
      ? await this.hosts.names(op, [...new Set(page.rows.map((v) => v.hostId))])
      : null;
    return { items: page.rows.map((v) => presentVolume(v, names)), next: page.next };
  }

  async get(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<Volume> {
    return this.present(op, access, await this.pick(op, access, projectId, ref));
  }

  /** Changes what was given. 409 `root_volume`, `name_taken`. */
  async update(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
    input: z.output<typeof updateVolume>,
  ): Promise<Volume> {
    const volume = await this.lock(op, access, projectId, ref);
    const changes = {
      ...(input.name !== undefined && { name: input.name }),
      ...(input.protected !== undefined && { protected: input.protected }),
    };
    if (Object.keys(changes).length === 0) return this.present(op, access, volume);
    const changed = (await this.volumes.change(op, volume.id, changes)) ?? volume;
    await this.events.changed(op, 'updated', changed);
    return this.present(op, access, changed);
  }

  /** 409 `root_volume`, `volume_in_use` with who has it, `volume_protected`. Stops its making, if that is not over. */
  async remove(op: Op, caller: Caller, projectId: string | undefined, ref: string): Promise<Accepted> {
    const volume = await this.lock(op, caller.access, projectId, ref);
    const [user] = volume.attachments;
    if (user) throw attachedElsewhere(volume, user.instanceId, await this.instances.nameOf(op, user.instanceId));
    if (volume.protected)
      throw conflict('volume_protected', 'It is protected from being deleted: lift the protection first.');
    const before: 'error' | 'available' = volume.state === 'error' ? 'error' : 'available';
    const task = await this.start(op, caller, volume, this.deletion.definition, { volumeId: volume.id, before });
    const changed = (await this.volumes.change(op, volume.id, { state: 'deleting' })) ?? volume;
    await this.events.changed(op, 'updated', changed);
    return { volume: await this.present(op, caller.access, changed), taskId: task.id };
  }

  private pick(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<ShownVolume> {
    return pickByRef('volume', ref, projectId, access, {
      byId: (id) => this.volumes.byId(op, id),
      named: (projects, name) => this.volumes.named(op, projects, name),
    });
  }

  /** For whoever changes something of it: a data volume, its row held. */
  private async lock(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<ShownVolume> {
    const { id } = await this.pick(op, access, projectId, ref);
    const volume = await this.volumes.lock(op, id);
    if (!volume) throw notFound('volume', ref);
    if (volume.role !== 'data') throw rootVolume(volume);
    return volume;
  }

  private start<I>(
    op: Op,
    caller: Caller,
    { id, name, projectId }: ShownVolume,
    definition: WorkflowDefinition<I, never>,
    input: I,
  ): Promise<{ id: string }> {
    return this.workflows.start(op, definition, input, {
      projectId,
      subject: { kind: 'volume', id, name },
      createdBy: caller.access.principal.id,
      requestId: caller.requestId,
    });
  }

  private async present(op: Op, access: Access, volume: ShownVolume): Promise<Volume> {
    const names = seesHosts(access.principal) ? await this.hosts.names(op, [volume.hostId]) : null;
    return presentVolume(volume, names);
  }
}
