import type { ManagementWiring } from '../../../core/app/module-manifest';
import { ProjectUsage } from '../../identity/contract/identity.ports';
import { Images } from '../contract/image.ports';
import { ImageFetcher } from './fetch/image-fetcher';
import { ImageController } from './image.controller';
import { ImageEvents } from './image.events';
import { ImageFiles } from './image-files';
import { ImageImport } from './image-import';
import { ImageBytes } from './ingest/image-bytes';
import { ImageIngest } from './ingest/image-ingest';
import { ImageNodeRoutes } from './image-node.routes';
import { ImageProjectUsage } from './image-project-usage';
import { ImagePublisher } from './image-publisher';
import { ImageRepository } from './image.repository';
import { ImageService } from './image.service';
import { ImageSpace } from './ingest/image-space';
import { ImageSweeper } from './image-sweeper.service';
import { ImageUploads } from './image-uploads.service';
import { ImageWorker } from './image-worker';
import { ImagesService } from './images.service';
import { QemuImg } from './ingest/qemu-img';
import { ImportImageWorkflow } from './workflows/import-image.workflow';

const parts = [
  ImageRepository,
  ImageEvents,
  ImageFiles,
  ImageSpace,
  ImageFetcher,
  ImageBytes,
  ImageIngest,
  QemuImg,
  ImagePublisher,
  ImageWorker,
  ImageService,
  ImageUploads,
  ImageImport,
  ImageSweeper,
  ImageController,
  ImageNodeRoutes,
  ImportImageWorkflow,
];

export const imageWiring: ManagementWiring = {
  bind: ({ bind }) => {
    for (const part of parts) bind<object>(part).toSelf().inSingletonScope();
    bind(Images).to(ImagesService).inSingletonScope();
    bind(ProjectUsage).to(ImageProjectUsage).inSingletonScope();
  },
  controllers: [ImageController],
  nodeRoutes: [ImageNodeRoutes],
  workflows: [ImportImageWorkflow],
  services: [ImageSweeper],
};
