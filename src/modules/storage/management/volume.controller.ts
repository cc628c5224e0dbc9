import { injectable } from 'inversify';
import { pageOf, pageQuery } from '../../../core/http/routes/pagination';
import { Controller, route, type Route } from '../../../core/http/routes/route';
import { volume } from '../contract/storage.api';
import { PostgresVolumes } from './postgres-volumes';

@injectable()
export class VolumeController extends Controller {
  constructor(private readonly volumes: PostgresVolumes) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/volumes',
          summary: 'List volumes',
          tag: 'Volumes',
          scope: 'collection',
          permission: 'volume:read',
          query: pageQuery,
          response: pageOf(volume),
        },
        (req) => this.volumes.list(req.op, req.access, req.query),
      ),
    ];
  }
}
