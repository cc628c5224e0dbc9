import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { pageOf } from '../../../../core/http/routes/pagination';
import { Controller, projectOf, route, type Route } from '../../../../core/http/routes/route';
import { createSubnet, subnet, subnetListQuery, updateSubnet } from '../../contract/subnet.api';
import { SubnetService } from './subnet.service';

const params = z.strictObject({ ref: field.ref });
const query = z.strictObject({ project: field.ref.optional() });
const tag = 'Subnets';

@injectable()
export class SubnetController extends Controller {
  constructor(private readonly subnets: SubnetService) {
    super();
  }

  override routes(): Route[] {
    return [...this.ofAll(), ...this.ofOne()];
  }

  private ofAll(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/subnets',
          summary: 'List subnets',
          tag,
          scope: 'collection',
          permission: 'subnet:read',
          query: subnetListQuery,
          response: pageOf(subnet),
        },
        (req) => this.subnets.list(req.op, req.access, req.project?.id, req.query),
      ),
      route(
        {
          method: 'POST',
          path: '/subnets',
          summary: 'Add a subnet to a network',
          tag,
          scope: 'project',
          permission: 'subnet:create',
          query,
          body: createSubnet,
          status: 201,
          response: subnet,
        },
        (req) =>
          this.subnets.create(req.op, projectOf(req).id, req.body, {
            principal: req.principal.id,
            requestId: req.requestId,
          }),
      ),
    ];
  }

  private ofOne(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/subnets/:ref',
          summary: 'Show a subnet',
          tag,
          scope: 'resource',
          permission: 'subnet:read',
          params,
          query,
          response: subnet,
        },
        (req) => this.subnets.get(req.op, req.access, req.project?.id, req.params.ref),
      ),
      route(
        {
          method: 'PATCH',
          path: '/subnets/:ref',
          summary: 'Change name or DNS servers',
          tag,
          scope: 'resource',
          permission: 'subnet:update',
          params,
          query,
          body: updateSubnet,
          response: subnet,
        },
        (req) =>
          this.subnets.update(req.op, req.access, req.project?.id, req.params.ref, req.body, {
            principal: req.principal.id,
            requestId: req.requestId,
          }),
      ),
      route(
        {
          method: 'DELETE',
          path: '/subnets/:ref',
          summary: 'Delete a subnet',
          tag,
          scope: 'resource',
          permission: 'subnet:delete',
          params,
          query,
          status: 204,
          response: z.void(),
        },
        (req) =>
          this.subnets.remove(req.op, req.access, req.project?.id, req.params.ref, {
            principal: req.principal.id,
            requestId: req.requestId,
          }),
      ),
    ];
  }
}
