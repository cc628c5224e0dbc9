import type { Image } from '../../contract/image.api';
import type { ImageEntity } from './image.entity';

export const presentImage = (i: ImageEntity): Image => ({
  id: i.id,
  projectId: i.projectId,
  name: i.name,
  description: i.description,
  state: i.state,
  message: i.message,
  public: i.public,
  sourceFormat: i.sourceFormat,
  sourceBytes: i.sourceBytes,
  virtualBytes: i.virtualBytes,
  sha256: i.sha256,
  architecture: i.architecture,
  firmware: i.firmware,
  vmm: i.vmm,
  vendorData: i.vendorData === '' ? null : i.vendorData,
  taskId: i.taskId,
  createdAt: i.createdAt.toISOString(),
});
