import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { pageOf } from '../../../../core/http/routes/pagination';
import { Controller, projectOf, route, type Route } from '../../../../core/http/routes/route';
import {
  createNetwork,
  network,
  networkListQuery,
  port,
  portListQuery,
  updateNetwork,
} from '../../contract/network.api';
import { NetworkService } from './network.service';

const params = z.strictObject({ ref: field.ref });
const query = z.strictObject({ project: field.ref.optional() });
const tag = 'Networks';

@injectable()
export class NetworkController extends Controller {
  constructor(private readonly networks: NetworkService) {
    super();
  }

  override routes(): Route[] {
    return [...this.networkRoutes(), ...this.portRoutes()];
  }

  private networkRoutes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/networks',
          summary: 'List networks',
          tag,
          scope: 'collection',
          permission: 'network:read',
          query: networkListQuery,
          response: pageOf(network),
        },
        (req) => this.networks.list(req.op, req.access, req.project?.id, req.query),
      ),
      route(
        {
          method: 'POST',
          path: '/networks',
          summary: 'Create a network',
          tag,
          scope: 'project',
          permission: 'network:create',
          query,
          body: createNetwork,
          status: 201,
          response: network,
        },
        (req) => this.networks.create(req.op, projectOf(req).id, req.body),
      ),
      route(
        {
          method: 'GET',
          path: '/networks/:ref',
          summary: 'Show a network',
          tag,
          scope: 'resource',
          permission: 'network:read',
          params,
          query,
          response: network,
        },
        (req) => this.networks.get(req.op, req.access, req.project?.id, req.params.ref),
      ),
      route(
        {
          method: 'PATCH',
          path: '/networks/:ref',
          summary: 'Change name or description',
          tag,
          scope: 'resource',
          permission: 'network:update',
          params,
          query,
          body: updateNetwork,
          response: network,
        },
        (req) => this.networks.update(req.op, req.access, req.project?.id, req.params.ref, req.body),
      ),
      route(
        {
          method: 'DELETE',
          path: '/networks/:ref',
          summary: 'Delete a network',
          tag,
          scope: 'resource',
          permission: 'network:delete',
          params,
          query,
          status: 204,
          response: z.void(),
        },
        (req) =>
          this.networks.remove(req.op, req.access, req.project?.id, req.params.ref, {
            principal: req.principal.id,
            requestId: req.requestId,
          }),
      ),
    ];
  }

  private portRoutes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/ports',
          summary: 'List ports',
          tag: 'Ports',
          scope: 'collection',
          permission: 'port:read',
          query: portListQuery,
          response: pageOf(port),
        },
        (req) => this.networks.listPorts(req.op, req.access, req.project?.id, req.query),
      ),
    ];
  }
}
