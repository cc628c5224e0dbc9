import { injectable } from 'inversify';
import type { Principal } from '../../../../core/auth/principal';
import type { Op } from '../../../../core/db/rows/op';
import { seesHosts } from '../../../host/contract/sees-hosts';
import { Hosts } from '../../../host/contract/host.ports';
import { InstancePorts, type InstancePort } from '../../../network/contract/network.ports';
import type { Instance } from '../../contract/compute.api';
import { shownOfHardware } from '../../contract/hardware';
import { shownOfMachine } from '../../contract/machine-options';
import type { ShownInstance } from './instance.entity';
import { shownReason } from './state-reason';

/** Instances as REST shows them. */
@injectable()
export class InstancePresenter {
  constructor(
    private readonly ports: InstancePorts,
    private readonly hosts: Hosts,
  ) {}

  async one(op: Op, entity: ShownInstance, viewer: Principal): Promise<Instance> {
    const [presented] = await this.many(op, [entity], viewer);
    if (!presented) throw new Error('one instance in, one out');
    return presented;
  }

  /** Which host it is on is told to those who may see hosts. */
  async many(op: Op, entities: ShownInstance[], viewer: Principal): Promise<Instance[]> {
    if (entities.length === 0) return [];
    const told = seesHosts(viewer);
    const ports = await this.portsOf(op, entities);
    const hostIds = told ? new Set(entities.flatMap((i) => i.hostId ?? [])) : [];
    const hosts = await this.hosts.names(op, [...hostIds]);
    return entities.map((i) => ({
      id: i.id,
      projectId: i.projectId,
      name: i.name,
      hostname: i.hostname,
      description: i.description,
      state: i.state,
      stateReason: shownReason(i.state, i.stateReason, i.observedState),
      flavor: {
        id: i.flavorId,
        name: i.flavorName,
        vcpus: i.vcpus,
        memoryBytes: i.memoryBytes,
        diskBytes: i.diskBytes,
        limits: i.limits,
        hardware: shownOfHardware(i.hardware),
      },
      image: { id: i.imageId, name: i.imageName },
      host: i.hostId === null || !told ? null : { id: i.hostId, name: hosts.get(i.hostId) ?? i.hostId },
      dedicatedCpus: told ? i.dedicatedCpus : null,
      ports: i.ports ?? ports.get(i.id) ?? [],
      sshKeys: i.sshKeys,
      stopGraceSeconds: i.stopGraceSeconds,
      configDrive: i.configDrive,
      machine: shownOfMachine(i.machine),
      shares: i.shares,
      maxVcpus: i.maxVcpus,
      maxMemoryBytes: i.maxMemoryBytes,
      vmm: i.vmm,
      wantedVmm: i.wantedVmm,
      tags: i.tags,
      metadata: i.metadata,
      protected: i.protected,
      lock: i.lock,
      taskId: i.taskId,
      createdAt: i.createdAt.toISOString(),
      startedAt: i.startedAt?.toISOString() ?? null,
      observedAt: i.observedAt?.toISOString() ?? null,
      lastExit: i.lastExit,
      restartPolicy: i.restartPolicy,
      // Rows of before there were watchdogs, and programs beside machines, say nothing of them.
      guest: i.guest && { ...i.guest, watchdogAt: i.guest.watchdogAt ?? null, lost: i.guest.lost ?? [] },
      rescue: i.rescue && { image: { id: i.rescue.imageId, name: i.rescue.imageName } },
    }));
  }

  /** Of those that were read without. Ports are made once a host is claimed: an instance without one has none. */
  private async portsOf(op: Op, entities: ShownInstance[]): Promise<Map<string, InstancePort[]>> {
    const ids = entities.filter((i) => i.ports === undefined && i.hostId !== null).map((i) => i.id);
    return ids.length === 0 ? new Map() : this.ports.of(op, ids);
  }
}
