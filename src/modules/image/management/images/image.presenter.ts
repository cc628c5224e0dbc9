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
  kernel:
    i.commandLine === null
      ? null
      : {
          commandLine: i.commandLine,
          kernel: bootFile(i.kernelSha256, i.kernelBytes),
          initramfs: bootFile(i.initramfsSha256, i.initramfsBytes),
        },
  vendorData: i.vendorData === '' ? null : i.vendorData,
  taskId: i.taskId,
  createdAt: i.createdAt.toISOString(),
});

const bootFile = (sha256: string | null, bytes: number | null): { sha256: string; bytes: number } | null =>
  sha256 === null || bytes === null ? null : { sha256, bytes };
