import { injectable } from 'inversify';
import { pageOf, pageQuery } from '../../../../core/http/routes/pagination';
import { Controller, projectOf, route, type Route } from '../../../../core/http/routes/route';
import { share } from '../../contract/compute.api';
import { Shares } from './shares.service';

/** What operators let the instances of a project mount. */
@injectable()
export class ShareController extends Controller {
  constructor(private readonly shares: Shares) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/shares',
          summary: 'The directories of hosts that instances of the project can mount',
          tag: 'Instances',
          scope: 'project',
          permission: 'share:read',
          query: pageQuery,
          response: pageOf(share),
        },
        (req) => this.shares.list(req.op, projectOf(req).id, req.access.principal, req.query),
      ),
    ];
  }
}
