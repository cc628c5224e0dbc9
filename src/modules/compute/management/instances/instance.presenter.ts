import { injectable } from 'inversify';
import type { Principal } from '../../../../core/auth/principal';
import type { Op } from '../../../../core/db/rows/op';
import { seesHosts } from '../../../host/contract/sees-hosts';
import { Hosts } from '../../../host/contract/host.ports';
import { InstancePorts, type InstancePort } from '../../../network/contract/network.ports';
import type { Instance } from '../../contract/compute.api';
import type { ShownInstance } from './instance.entity';
import { shownReason } from './state-reason';

/** By instance. */
type PortsOfInstances = Map<string, InstancePort[]>;

/** Instances as REST shows them: a page costs one more query, whatever its length. */
@injectable()
export class InstancePresenter {
  constructor(
    private readonly ports: InstancePorts,
    private readonly hosts: Hosts,
  ) {}

  /** @param asked its ports, when they have been asked for already */
  async one(op: Op, entity: ShownInstance, viewer: Principal, asked?: Promise<PortsOfInstances>): Promise<Instance> {
    const [presented] = await this.many(op, [entity], viewer, asked);
    if (!presented) throw new Error('one instance in, one out');
    return presented;
  }

  /** For `one`, before the instance itself is there. */
  async portsOf(op: Op, ids: string[]): Promise<PortsOfInstances> {
    return ids.length === 0 ? new Map() : this.ports.of(op, ids);
  }

  /** Which host it is on is told to those who may see hosts. */
  async many(
    op: Op,
    entities: ShownInstance[],
    viewer: Principal,
    asked?: Promise<PortsOfInstances>,
  ): Promise<Instance[]> {
    if (entities.length === 0) return [];
    const told = seesHosts(viewer);
    // Ports are made once a host is claimed: an instance without one has none.
    const placed = entities.filter((i) => i.hostId !== null);
    const hostIds = told ? [...new Set(placed.flatMap((i) => i.hostId ?? []))] : [];
    const ports = await (asked ??
      this.portsOf(
        op,
        placed.map((i) => i.id),
      ));
    const hosts = await this.hosts.names(op, hostIds);
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
      },
      image: { id: i.imageId, name: i.imageName },
      host: i.hostId === null || !told ? null : { id: i.hostId, name: hosts.get(i.hostId) ?? i.hostId },
      ports: (ports.get(i.id) ?? []).map((p) => ({
        id: p.id,
        networkId: p.networkId,
        network: p.network,
        mac: p.mac,
        address: p.address,
      })),
      sshKeys: i.sshKeys,
      stopGraceSeconds: i.stopGraceSeconds,
      configDrive: i.configDrive,
      vmm: i.vmm,
      wantedVmm: i.wantedVmm,
      taskId: i.taskId,
      createdAt: i.createdAt.toISOString(),
      startedAt: i.startedAt?.toISOString() ?? null,
      observedAt: i.observedAt?.toISOString() ?? null,
    }));
  }
}
