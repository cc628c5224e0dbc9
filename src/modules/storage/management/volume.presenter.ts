import type { Volume } from '../contract/storage.api';
import type { ShownVolume } from './volume.repository';

/** @param hosts names by id; null for those who may not see hosts */
export const presentVolume = (v: ShownVolume, hosts: ReadonlyMap<string, string> | null): Volume => ({
  id: v.id,
  projectId: v.projectId,
  name: v.name,
  state: v.state,
  bytes: v.bytes,
  role: v.role,
  pool: v.pool,
  host: hosts && { id: v.hostId, name: hosts.get(v.hostId) ?? '' },
  instanceId: v.instanceId ?? v.attachments[0]?.instanceId ?? null,
  attachments: v.attachments,
  imageId: v.imageId,
  protected: v.protected,
  createdAt: v.createdAt.toISOString(),
});
