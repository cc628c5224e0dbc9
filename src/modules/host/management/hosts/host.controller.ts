import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { pageOf } from '../../../../core/http/routes/pagination';
import { Controller, route, type Declared, type Route } from '../../../../core/http/routes/route';
import { hostDetailWith, hostWith, hostListQuery, hostTask, updateHost } from '../../contract/host.api';
import { HostService } from './host.service';

const params = z.strictObject({ ref: field.ref });

@injectable()
export class HostController extends Controller {
  constructor(private readonly hosts: HostService) {
    super();
  }

  override routes({ inventory }: Declared): Route[] {
    const hostDetail = hostDetailWith(inventory);
    return [
      route(
        {
          method: 'GET',
          path: '/hosts',
          summary: 'List hosts',
          tag: 'Hosts',
          scope: 'global',
          permission: 'host:read',
          query: hostListQuery,
          response: pageOf(hostWith(inventory)),
        },
        (req) => this.hosts.list(req.op, req.query),
      ),
      route(
        {
          method: 'GET',
          path: '/hosts/:ref',
          summary: 'Show a host',
          tag: 'Hosts',
          scope: 'global',
          permission: 'host:read',
          params,
          response: hostDetail,
        },
        (req) => this.hosts.get(req.op, req.params.ref),
      ),
      route(
        {
          method: 'PATCH',
          path: '/hosts/:ref',
          summary: 'Put a host into maintenance or take it out',
          tag: 'Hosts',
          scope: 'global',
          permission: 'host:update',
          params,
          body: updateHost,
          response: hostDetail,
        },
        (req) => this.hosts.update(req.op, req.params.ref, req.body),
      ),
      route(
        {
          method: 'POST',
          path: '/hosts/:ref/actions/test',
          summary: 'Try its virtual machine monitors anew',
          tag: 'Hosts',
          scope: 'global',
          permission: 'host:update',
          params,
          status: 202,
          response: hostTask,
        },
        (req) => this.hosts.test(req.op, req, req.params.ref),
      ),
      route(
        {
          method: 'DELETE',
          path: '/hosts/:ref',
          summary: 'Remove an empty host',
          tag: 'Hosts',
          scope: 'global',
          permission: 'host:delete',
          params,
          status: 204,
          response: z.void(),
        },
        (req) => this.hosts.remove(req.op, req.params.ref),
      ),
    ];
  }
}
