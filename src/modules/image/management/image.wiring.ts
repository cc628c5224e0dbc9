import type { ManagementWiring } from '../../../core/app/module-manifest';
import { ProjectUsage } from '../../identity/contract/identity.ports';
import { Images } from '../contract/image.ports';
import { ImageFetcher } from './fetch/image-fetcher';
import { ImageController } from './images/image.controller';
import { ImageEvents } from './images/image.events';
import { ImageFiles } from './images/image-files';
import { ImageImport } from './import/image-import';
import { ImageBytes } from './ingest/image-bytes';
import { ImageIngest } from './ingest/image-ingest';
import { ImageNodeRoutes } from './images/image-node.routes';
import { ImageProjectUsage } from './images/image-project-usage';
import { ImagePublisher } from './images/image-publisher';
import { ImageRepository } from './images/image.repository';
import { ImageService } from './images/image.service';
import { ImageSpace } from './ingest/image-space';
import { ImageSweeper } from './images/image-sweeper.service';
import { ImageUploads } from './import/image-uploads.service';
import { ImageWorker } from './import/image-worker';
import { PostgresImages } from './images/postgres-images';
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
    bind(Images).to(PostgresImages).inSingletonScope();
    bind(ProjectUsage).to(ImageProjectUsage).inSingletonScope();
  },
  controllers: [ImageController],
  nodeRoutes: [ImageNodeRoutes],
  workflows: [ImportImageWorkflow],
  services: [ImageSweeper],
  periodic: [ImageSweeper],
};
