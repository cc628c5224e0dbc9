import type { Host, StoreRoom } from '../../contract/host.api';
import type { HostConfig } from '../../contract/host.config';
import type { ClaimedRoom } from '../../contract/host.ports';
import { noHugePages, pageSizeNames } from '../../contract/page-sizes';
import { capacityOf } from './host-capacity';
import type { HostConditionEntity } from '../conditions/host-condition.entity';
import type { HostEntity } from './host.entity';

export const unused: ClaimedRoom = {
  vcpus: 0,
  nodes: {},
  memoryBytes: 0,
  hugePages: noHugePages,
  diskBytes: 0,
  stores: {},
  instances: 0,
};

const roomOf = (part: string, host: HostEntity, used: ClaimedRoom): StoreRoom[] =>
  host.stores
    .filter((store) => store.part === part)
    .map(({ key, name, bytes }) => ({ name, bytes, bytesUsed: used.stores[key] ?? 0 }));

const nodesOf = (host: HostEntity, used: ClaimedRoom): Host['capacity']['nodes'] =>
  host.nodes.map(({ node, dedicatedCpus, memoryBytes }) => ({
    node,
    dedicatedCpus,
    dedicatedCpusUsed: used.nodes[node]?.cpus ?? 0,
    memoryBytes,
    memoryBytesBound: used.nodes[node]?.memoryBytes ?? 0,
  }));

/** A host as REST shows it. @param storeParts the parts of the inventory that are stores */
export const presentHost = (
  host: HostEntity,
  conditions: HostConditionEntity[],
  used: ClaimedRoom,
  breaker: Host['breaker'],
  config: HostConfig,
  storeParts: readonly string[],
): Host => {
  const total = capacityOf(host, config);
  const nodes = nodesOf(host, used);
  return {
    id: host.id,
    name: host.name,
    address: host.address,
    state: host.state,
    schedulable: host.schedulable,
    conditions: conditions.map(({ type, status, reason, message, since }) => ({
      type,
      status,
      reason,
      message,
      since: since.toISOString(),
    })),
    breaker,
    lastSeenAt: host.lastSeenAt?.toISOString() ?? null,
    capacity: {
      vcpus: total.vcpus,
      vcpusUsed: used.vcpus,
      dedicatedCpus: nodes.reduce((sum, node) => sum + node.dedicatedCpus, 0),
      dedicatedCpusUsed: Object.values(used.nodes).reduce((sum, { cpus }) => sum + cpus, 0),
      nodes,
      memoryBytes: total.memoryBytes,
      memoryBytesUsed: used.memoryBytes,
      hugePages: pageSizeNames
        .map((size) => ({ size, bytes: total.hugePages[size], bytesUsed: used.hugePages[size] }))
        .filter(({ bytes, bytesUsed }) => bytes > 0 || bytesUsed > 0),
      diskBytes: total.diskBytes,
      diskBytesUsed: used.diskBytes,
      ...Object.fromEntries(storeParts.map((part) => [part, roomOf(part, host, used)])),
      instances: used.instances,
    },
    createdAt: host.createdAt.toISOString(),
  };
};
