import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { pageOf, pageQuery } from '../../../../core/http/routes/pagination';
import { Controller, route, type Route } from '../../../../core/http/routes/route';
import { apiToken, createApiToken, createdApiToken } from '../../contract/identity.api';
import { ApiTokenService } from './api-token.service';

const tag = 'identity';
const params = z.strictObject({ ref: field.ref });
const reason = "the caller's own tokens, which never exceed its own permissions";

@injectable()
export class ApiTokenController extends Controller {
  constructor(private readonly tokens: ApiTokenService) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/api-tokens',
          summary: "List the caller's API tokens",
          tag,
          scope: 'self',
          permission: 'api-token:read',
          reason,
          query: pageQuery.omit({ project: true }),
          response: pageOf(apiToken),
        },
        (req) => this.tokens.list(req.op, req.principal, req.query),
      ),
      route(
        {
          method: 'POST',
          path: '/api-tokens',
          summary: 'Create an API token; it is shown once',
          tag,
          scope: 'self',
          permission: 'api-token:create',
          reason,
          body: createApiToken,
          status: 201,
          secretResponse: true,
          response: createdApiToken,
        },
        (req) => this.tokens.create(req.op, req.principal, req.body),
      ),
      route(
        {
          method: 'DELETE',
          path: '/api-tokens/:ref',
          summary: 'Delete an API token',
          tag,
          scope: 'self',
          permission: 'api-token:delete',
          reason,
          params,
          status: 204,
          response: z.void(),
        },
        (req) => this.tokens.delete(req.op, req.principal, req.params.ref),
      ),
    ];
  }
}
