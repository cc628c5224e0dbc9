import { injectable } from 'inversify';
import { z } from 'zod';
import { Config } from '../../../../core/config/config';
import * as field from '../../../../core/http/routes/fields';
import type { Op } from '../../../../core/db/rows/op';
import { defineWorkflow, Workflow, type LocalContext } from '../../../../core/workflow/definition/definition';
import { DeclaredMetrics } from '../../../../core/telemetry/declared-metrics';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';
import type { ImageConfig } from '../../contract/image.config';
import { ImageFiles } from '../images/image-files';
import { ImageImport, type Converted } from '../import/image-import';
import { ImagePublisher } from '../images/image-publisher';
import { ImageRefused } from '../import/image-refused';
import type { ImageEntity } from '../images/image.entity';
import { ImageEvents } from '../images/image.events';
import { ImageRepository } from '../images/image.repository';
import { imageLock } from './image-lock';

const input = z.strictObject({ imageId: field.id });
type Input = z.output<typeof input>;

/**
 * An image with a URL becomes ready, or says why not. Its bytes are moved by whichever management process has the task;
 * one that takes over goes on with what was fetched whole, and fetches the rest anew.
 */
@injectable()
export class ImportImageWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(
    images: ImageRepository,
    events: ImageEvents,
    publisher: ImagePublisher,
    files: ImageFiles,
    importing: ImageImport,
    config: Config,
    metrics: DeclaredMetrics,
  ) {
    super();
    const { imports, importsPerProject } = config.section<ImageConfig>('image');
    const importingImage = async (op: Op, imageId: string): Promise<ImageEntity> => {
      const image = await images.byId(op, imageId);
      if (!image || image.state !== 'importing')
        throw new PermanentError('image_deleted', 'The image was deleted meanwhile.');
      return image;
    };
    /** From here on no sweep takes the stored file of these bytes away. */
    const name = ({ input: { imageId }, tx }: LocalContext<Input, object>, converted: Converted): Promise<void> =>
      tx(async (op) => {
        const image = await importingImage(op, imageId);
        const { file, ...facts } = converted;
        const named = await publisher.name(op, image, { ...facts, raw: files.incomingPath(file) });
        await images.update(op, imageId, named);
      }).catch((error: unknown) => {
        throw error instanceof ImageRefused ? new PermanentError(error.code, error.message) : error;
      });
    const end = async (op: Op, imageId: string, message: string): Promise<void> => {
      const image = await images.byId(op, imageId);
      if (!image) return;
      op.afterCommit(() => metrics.count('vcstack_image_imports_total', { outcome: 'failed' }));
      // Its bytes may be stored already: only the last step was missing.
      publisher.releaseAfter(op, image.sha256);
      if (image.state === 'deleting') {
        await images.remove(op, imageId);
        await events.changed(op, 'deleted', image);
        return;
      }
      const changes = { state: 'error' as const, message, sha256: null, storedBytes: null };
      await images.update(op, imageId, changes);
      await events.changed(op, 'updated', { ...image, ...changes });
    };
    this.definition = defineWorkflow<Input>('image.import', {
      version: 2,
      input,
      lock: ({ imageId }) => imageLock(imageId),
      deadline: '24h',
      limit: imports,
      limitPerProject: importsPerProject,
      whenUndone: (c, error) => end(c.op, c.input.imageId, error.message),
      whenStuck: (c, error) => end(c.op, c.input.imageId, error.message),
    })
      .local('fetch', {
        title: 'Fetch the image',
        run: async (c, signal, progress) => {
          const image = await c.tx((op) => importingImage(op, c.input.imageId));
          return importing.fetch({ image, run: c.fence, signal, progress });
        },
        undo: (c) => files.discardOf(c.input.imageId),
      })
      .local('convert', {
        title: 'Check and convert the image',
        run: async (c, signal, progress) => {
          const image = await c.tx((op) => importingImage(op, c.input.imageId));
          const converted = await importing.convert({ image, run: c.fence, signal, progress }, c.out.fetch);
          await name(c, converted);
          return converted;
        },
        noUndo: 'its files go with those of the step before, its name with the image',
      })
      .tx('publish', {
        title: 'Make the image available',
        // The row names the digest already, so the file may be put in its place twice, or before a commit that fails.
        run: async (c) => {
          const image = await importingImage(c.op, c.input.imageId);
          const { file, sha256, virtualBytes, sourceBytes } = c.out.convert;
          const raw = files.incomingPath(file);
          await publisher.place(c.op, { raw, sha256, virtualBytes });
          await files.discardOf(image.id, [raw]);
          c.op.afterCommit(() => {
            metrics.count('vcstack_image_imports_total', { outcome: 'ready' });
            metrics.count('vcstack_image_imported_bytes_total', {}, sourceBytes);
          });
          const changes = { state: 'ready' as const, message: '' };
          await images.update(c.op, image.id, changes);
          await events.changed(c.op, 'updated', { ...image, ...changes });
          return {};
        },
        retry: { attempts: 5 },
        noUndo: 'it is the last step',
      });
  }
}
