import { injectable } from 'inversify';
import { z } from 'zod';
import { Controller, route, type Route } from '../../../../core/http/routes/route';
import * as field from '../../../../core/http/routes/fields';
import { pageOf, pageQuery } from '../../../../core/http/routes/pagination';
import { createFlavor, flavor, updateFlavor } from '../../contract/compute.api';
import { FlavorService } from './flavor.service';

const params = z.strictObject({ ref: field.ref });
const reason = 'every user picks from the flavors';

@injectable()
export class FlavorController extends Controller {
  constructor(private readonly flavors: FlavorService) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/flavors',
          summary: 'List flavors',
          tag: 'Flavors',
          scope: 'self',
          permission: 'flavor:read',
          reason,
          query: pageQuery.omit({ project: true }),
          response: pageOf(flavor),
        },
        (req) => this.flavors.list(req.op, req.query),
      ),
      route(
        {
          method: 'POST',
          path: '/flavors',
          summary: 'Create a flavor',
          tag: 'Flavors',
          scope: 'global',
          permission: 'flavor:create',
          body: createFlavor,
          status: 201,
          response: flavor,
        },
        (req) => this.flavors.create(req.op, req.body),
      ),
      route(
        {
          method: 'GET',
          path: '/flavors/:ref',
          summary: 'Show a flavor',
          tag: 'Flavors',
          scope: 'self',
          permission: 'flavor:read',
          reason,
          params,
          response: flavor,
        },
        (req) => this.flavors.get(req.op, req.params.ref),
      ),
      route(
        {
          method: 'PATCH',
          path: '/flavors/:ref',
          summary: 'Change name, description or vendor data of a flavor',
          tag: 'Flavors',
          scope: 'global',
          permission: 'flavor:update',
          params,
          body: updateFlavor,
          response: flavor,
        },
        (req) => this.flavors.update(req.op, req.params.ref, req.body),
      ),
      route(
        {
          method: 'DELETE',
          path: '/flavors/:ref',
          summary: 'Delete a flavor',
          tag: 'Flavors',
          scope: 'global',
          permission: 'flavor:delete',
          params,
          status: 204,
          response: z.void(),
        },
        (req) => this.flavors.remove(req.op, req.params.ref),
      ),
    ];
  }
}
