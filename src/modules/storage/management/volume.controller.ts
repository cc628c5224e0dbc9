import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { pageOf } from '../../../core/http/routes/pagination';
import { Controller, projectOf, route, type Route } from '../../../core/http/routes/route';
import { createVolume, updateVolume, volume, volumeListQuery, volumeWithTask } from '../contract/storage.api';
import { VolumeService } from './volume.service';

const params = z.strictObject({ ref: field.ref });
const query = z.strictObject({ project: field.ref.optional() });
const tag = 'Volumes';

@injectable()
export class VolumeController extends Controller {
  constructor(private readonly volumes: VolumeService) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/volumes',
          summary: 'List volumes',
          tag,
          scope: 'collection',
          permission: 'volume:read',
          query: volumeListQuery,
          response: pageOf(volume),
        },
        (req) => this.volumes.list(req.op, req.access, req.project?.id, req.query),
      ),
      route(
        {
          method: 'POST',
          path: '/volumes',
          summary: 'Create an empty volume',
          tag,
          scope: 'project',
          permission: 'volume:create',
          query,
          body: createVolume,
          status: 202,
          response: volumeWithTask,
        },
        (req) => this.volumes.create(req.op, req, projectOf(req).id, req.body),
      ),
      ...this.resourceRoutes(),
    ];
  }

  private resourceRoutes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/volumes/:ref',
          summary: 'Show a volume',
          tag,
          scope: 'resource',
          permission: 'volume:read',
          params,
          query,
          response: volume,
        },
        (req) => this.volumes.get(req.op, req.access, req.project?.id, req.params.ref),
      ),
      route(
        {
          method: 'PATCH',
          path: '/volumes/:ref',
          summary: 'Change name or protection of a volume',
          tag,
          scope: 'resource',
          permission: 'volume:update',
          params,
          query,
          body: updateVolume,
          response: volume,
        },
        (req) => this.volumes.update(req.op, req.access, req.project?.id, req.params.ref, req.body),
      ),
      route(
        {
          method: 'DELETE',
          path: '/volumes/:ref',
          summary: 'Delete a volume that no instance has',
          tag,
          scope: 'resource',
          permission: 'volume:delete',
          params,
          query,
          status: 202,
          response: volumeWithTask,
        },
        (req) => this.volumes.remove(req.op, req, req.project?.id, req.params.ref),
      ),
    ];
  }
}
