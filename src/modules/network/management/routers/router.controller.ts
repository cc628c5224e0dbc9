import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { pageOf } from '../../../../core/http/routes/pagination';
import { Controller, projectOf, route, type Route } from '../../../../core/http/routes/route';
import { createRouter, router, routerListQuery, updateRouter } from '../../contract/router.api';
import { RouterService } from './router.service';

const params = z.strictObject({ ref: field.ref });
const withSubnet = params.extend({ subnet: field.ref });
const query = z.strictObject({ project: field.ref.optional() });
const tag = 'Routers';

@injectable()
export class RouterController extends Controller {
  constructor(private readonly routers: RouterService) {
    super();
  }

  override routes(): Route[] {
    return [...this.routerRoutes(), ...this.subnetRoutes()];
  }

  private routerRoutes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/routers',
          summary: 'List routers',
          tag,
          scope: 'collection',
          permission: 'router:read',
          query: routerListQuery,
          response: pageOf(router),
        },
        (req) => this.routers.list(req.op, req.access, req.project?.id, req.query),
      ),
      route(
        {
          method: 'POST',
          path: '/routers',
          summary: 'Create a router',
          tag,
          scope: 'project',
          permission: 'router:create',
          query,
          body: createRouter,
          status: 201,
          response: router,
        },
        (req) => this.routers.create(req.op, projectOf(req).id, req.body),
      ),
      route(
        {
          method: 'GET',
          path: '/routers/:ref',
          summary: 'Show a router',
          tag,
          scope: 'resource',
          permission: 'router:read',
          params,
          query,
          response: router,
        },
        (req) => this.routers.get(req.op, req.access, req.project?.id, req.params.ref),
      ),
      route(
        {
          method: 'PATCH',
          path: '/routers/:ref',
          summary: 'Change name, description or the way out',
          tag,
          scope: 'resource',
          permission: 'router:update',
          params,
          query,
          body: updateRouter,
          response: router,
        },
        (req) =>
          this.routers.update(req.op, req.access, req.project?.id, req.params.ref, req.body, {
            principal: req.principal.id,
            requestId: req.requestId,
          }),
      ),
      route(
        {
          method: 'DELETE',
          path: '/routers/:ref',
          summary: 'Delete a router',
          tag,
          scope: 'resource',
          permission: 'router:delete',
          params,
          query,
          status: 204,
          response: z.void(),
        },
        (req) => this.routers.remove(req.op, req.access, req.project?.id, req.params.ref),
      ),
    ];
  }

  private subnetRoutes(): Route[] {
    return [
      route(
        {
          method: 'PUT',
          path: '/routers/:ref/subnets/:subnet',
          summary: 'Put a subnet on a router',
          tag,
          scope: 'resource',
          permission: 'router:update',
          params: withSubnet,
          query,
          response: router,
        },
        (req) =>
          this.routers.addSubnet(
            req.op,
            req.access,
            req.project?.id,
            { router: req.params.ref, subnet: req.params.subnet },
            { principal: req.principal.id, requestId: req.requestId },
          ),
      ),
      route(
        {
          method: 'DELETE',
          path: '/routers/:ref/subnets/:subnet',
          summary: 'Take a subnet off a router',
          tag,
          scope: 'resource',
          permission: 'router:update',
          params: withSubnet,
          query,
          response: router,
        },
        (req) =>
          this.routers.removeSubnet(
            req.op,
            req.access,
            req.project?.id,
            { router: req.params.ref, subnet: req.params.subnet },
            { principal: req.principal.id, requestId: req.requestId },
          ),
      ),
    ];
  }
}
