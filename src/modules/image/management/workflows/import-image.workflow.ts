import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/fields';
import type { Op } from '../../../../core/db/op';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';
import { ImageEvents } from '../image.events';
import { ImagePublisher } from '../image-publisher';
import type { ImageEntity, ImportPhase } from '../image.entity';
import { ImageRepository } from '../image.repository';
import { imageLock } from './image-lock';

const input = z.strictObject({ imageId: field.id });
type Input = z.output<typeof input>;

/**
 * An image with a URL becomes ready, or says why not. The bytes are moved by `ImageImports` of any management process,
 * outside of transactions; the steps here wait for what it records, so a restart anywhere loses nothing but the
 * download at hand.
 */
@injectable()
export class ImportImageWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(images: ImageRepository, events: ImageEvents, publisher: ImagePublisher) {
    super();
    const reached = async (
      op: Op,
      imageId: string,
      phases: ImportPhase[],
    ): Promise<Record<string, never> | undefined> => {
      const image = await require(op, imageId);
      if (image.phase === 'failed') throw new PermanentError(image.failureCode ?? 'import_failed', image.message);
      return image.phase !== null && phases.includes(image.phase) ? {} : undefined;
    };
    const require = async (op: Op, imageId: string): Promise<ImageEntity> => {
      const image = await images.byId(op, imageId);
      if (!image || image.state !== 'importing')
        throw new PermanentError('image_deleted', 'The image was deleted meanwhile.');
      return image;
    };
    const end = async (op: Op, imageId: string, message: string): Promise<void> => {
      const image = await images.byId(op, imageId);
      if (!image) return;
      // Its bytes may be stored already: only the last step was missing.
      publisher.releaseAfter(op, image.sha256);
      if (image.state === 'deleting') {
        await images.remove(op, imageId);
        await events.changed(op, 'deleted', image);
        return;
      }
      const changes = { state: 'error' as const, message, phase: 'failed' as const, sha256: null };
      await images.update(op, imageId, changes);
      await events.changed(op, 'updated', { ...image, ...changes });
    };
    this.definition = defineWorkflow<Input>('image.import', {
      version: 1,
      input,
      lock: ({ imageId }) => imageLock(imageId),
      deadline: '24h',
      whenUndone: (c, error) => end(c.op, c.input.imageId, error.message),
      whenStuck: (c, error) => end(c.op, c.input.imageId, error.message),
    })
      .wait('fetch', {
        title: 'Fetch the image',
        every: '15s',
        timeout: '24h',
        until: (c) => reached(c.op, c.input.imageId, ['fetched', 'stored']),
      })
      .wait('convert', {
        title: 'Check and convert the image',
        every: '15s',
        timeout: '24h',
        until: (c) => reached(c.op, c.input.imageId, ['stored']),
      })
      .tx('publish', {
        title: 'Make the image available',
        run: async (c) => {
          const image = await require(c.op, c.input.imageId);
          const changes = { state: 'ready' as const, message: '' };
          await images.update(c.op, image.id, changes);
          await events.changed(c.op, 'updated', { ...image, ...changes });
          return {};
        },
        noUndo: 'it is the last step',
      });
  }
}
