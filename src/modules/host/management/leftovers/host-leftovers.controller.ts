import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { Controller, route, type Route } from '../../../../core/http/routes/route';
import { hostTask } from '../../contract/host.api';
import { leftoverList, removeLeftovers } from '../../contract/leftover';
import { HostLeftoversService } from './host-leftovers.service';

const params = z.strictObject({ ref: field.ref });

@injectable()
export class HostLeftoversController extends Controller {
  constructor(private readonly leftovers: HostLeftoversService) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/hosts/:ref/leftovers',
          summary: 'Look for what lies on a host and belongs to nothing',
          tag: 'Hosts',
          scope: 'global',
          permission: 'host:read',
          params,
          response: leftoverList,
        },
        (req) => this.leftovers.list(req.op, req.params.ref, req.requestId),
      ),
      route(
        {
          method: 'POST',
          path: '/hosts/:ref/actions/remove-leftovers',
          summary: 'Remove leftovers of a host, exactly as they were listed',
          tag: 'Hosts',
          scope: 'global',
          permission: 'host:delete',
          params,
          body: removeLeftovers,
          status: 202,
          response: hostTask,
        },
        (req) => this.leftovers.remove(req.op, req, req.params.ref, req.body.leftovers),
      ),
    ];
  }
}
