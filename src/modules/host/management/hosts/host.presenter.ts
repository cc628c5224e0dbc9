import type { Host } from '../../contract/host.api';
import type { HostConfig } from '../../contract/host.config';
import type { ClaimedRoom } from '../../contract/host.ports';
import { capacityOf } from './host-capacity';
import type { HostConditionEntity } from '../conditions/host-condition.entity';
import type { HostEntity } from './host.entity';

export const unused: ClaimedRoom = { vcpus: 0, memoryBytes: 0, diskBytes: 0, pools: {}, instances: 0 };

/** A host as REST shows it. */
export const presentHost = (
  host: HostEntity,
  conditions: HostConditionEntity[],
  used: ClaimedRoom,
  breaker: Host['breaker'],
  config: HostConfig,
): Host => {
  const total = capacityOf(host, config);
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
      memoryBytes: total.memoryBytes,
      memoryBytesUsed: used.memoryBytes,
      diskBytes: total.diskBytes,
      diskBytesUsed: used.diskBytes,
      pools: host.pools.map(({ name, totalBytes }) => ({
        name,
        bytes: totalBytes,
        bytesUsed: used.pools[name] ?? 0,
      })),
      instances: used.instances,
    },
    createdAt: host.createdAt.toISOString(),
  };
};
