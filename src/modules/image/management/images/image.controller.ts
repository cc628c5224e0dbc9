import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { pageOf, pageQuery } from '../../../../core/http/routes/pagination';
import { Controller, projectOf, reply, route, type Route } from '../../../../core/http/routes/route';
import { createImage, image, updateImage } from '../../contract/image.api';
import { ImageService } from './image.service';
import { ImageUploads } from '../import/image-uploads.service';

const params = z.strictObject({ ref: field.ref });
const query = z.strictObject({ project: field.ref.optional() });
const tag = 'Images';
/** The import that ends because its image is deleted. */
const stopped = z.object({ taskId: field.id });

@injectable()
export class ImageController extends Controller {
  constructor(
    private readonly images: ImageService,
    private readonly uploads: ImageUploads,
  ) {
    super();
  }

  override routes(): Route[] {
    return [...this.collectionRoutes(), ...this.resourceRoutes()];
  }

  private collectionRoutes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/images',
          summary: 'List images, own and public',
          tag,
          scope: 'collection',
          permission: 'image:read',
          query: pageQuery,
          response: pageOf(image),
        },
        (req) => this.images.list(req.op, req.access, req.query),
      ),
      route(
        {
          method: 'POST',
          path: '/images',
          summary: 'Create an image; its bytes come from the URL, or by PUT /images/{ref}/content',
          tag,
          scope: 'project',
          permission: 'image:create',
          query,
          body: createImage,
          status: [201, 202],
          response: image,
        },
        async (req) => {
          const made = await this.images.create(req.op, req, projectOf(req).id, req.body);
          return reply(made, { status: made.taskId === null ? 201 : 202 });
        },
      ),
    ];
  }

  private bootFileRoutes(): Route[] {
    const upload = (part: 'kernel' | 'initramfs', summary: string): Route =>
      route(
        {
          method: 'PUT',
          path: `/images/:ref/${part}`,
          summary,
          tag,
          scope: 'resource',
          permission: 'image:update',
          params: z.strictObject({ ref: field.id }),
          rawBody: true,
          ownTransaction: true,
          response: image,
        },
        (req) => this.uploads.upload(req.access, req.params.ref, part, req.raw),
      );
    return [
      upload('kernel', 'Upload the kernel of an image, a bzImage or an ELF file, before its disk'),
      upload('initramfs', 'Upload the initramfs of an image, before its disk'),
    ];
  }

  private resourceRoutes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/images/:ref',
          summary: 'Show an image',
          tag,
          scope: 'resource',
          permission: 'image:read',
          params,
          query,
          response: image,
        },
        (req) => this.images.get(req.op, req.access, req.project?.id, req.params.ref),
      ),
      route(
        {
          method: 'PATCH',
          path: '/images/:ref',
          summary: 'Change name, description, kind of VMM, command line or vendor data of an image',
          tag,
          scope: 'resource',
          permission: 'image:update',
          params,
          query,
          body: updateImage,
          response: image,
        },
        (req) => this.images.update(req.op, req.access, req.project?.id, req.params.ref, req.body),
      ),
      route(
        {
          method: 'PUT',
          path: '/images/:ref/content',
          summary: 'Upload the bytes of an image, raw or qcow2, as the request body',
          tag,
          scope: 'resource',
          permission: 'image:update',
          params: z.strictObject({ ref: field.id }),
          rawBody: true,
          ownTransaction: true,
          response: image,
        },
        (req) => this.uploads.upload(req.access, req.params.ref, 'content', req.raw),
      ),
      ...this.bootFileRoutes(),
      route(
        {
          method: 'DELETE',
          path: '/images/:ref',
          summary: 'Delete an image; 202 with the task when an import has to end first',
          tag,
          scope: 'resource',
          permission: 'image:delete',
          params,
          query,
          status: [202, 204],
          response: stopped,
        },
        async (req) => {
          const task = await this.images.remove(req.op, req, req.project?.id, req.params.ref);
          return task ? reply(task, { status: 202 }) : undefined;
        },
      ),
    ];
  }
}
