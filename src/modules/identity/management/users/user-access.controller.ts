import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { pageOf, pageQuery } from '../../../../core/http/routes/pagination';
import { Controller, route, type Route } from '../../../../core/http/routes/route';
import { apiToken, session } from '../../contract/identity.api';
import { UserAccessService } from './user-access.service';

const tag = 'identity';
const ofUser = z.strictObject({ ref: field.ref });

@injectable()
export class UserAccessController extends Controller {
  constructor(private readonly access: UserAccessService) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/users/:ref/sessions',
          summary: "List a user's open sessions",
          tag,
          scope: 'global',
          permission: 'session:read',
          params: ofUser,
          query: pageQuery.omit({ project: true }),
          response: pageOf(session),
        },
        (req) => this.access.listSessions(req.op, req.params.ref, req.query),
      ),
      route(
        {
          method: 'DELETE',
          path: '/users/:ref/sessions',
          summary: 'End all sessions of a user',
          tag,
          scope: 'global',
          permission: 'session:delete',
          params: ofUser,
          status: 204,
          response: z.void(),
        },
        (req) => this.access.endAllSessions(req.op, req.params.ref),
      ),
      route(
        {
          method: 'DELETE',
          path: '/users/:ref/sessions/:id',
          summary: 'End a session of a user',
          tag,
          scope: 'global',
          permission: 'session:delete',
          params: ofUser.extend({ id: field.id }),
          status: 204,
          response: z.void(),
        },
        (req) => this.access.endSession(req.op, req.params.ref, req.params.id),
      ),
      route(
        {
          method: 'GET',
          path: '/users/:ref/api-tokens',
          summary: "List a user's API tokens",
          tag,
          scope: 'global',
          permission: 'api-token:read',
          params: ofUser,
          query: pageQuery.omit({ project: true }),
          response: pageOf(apiToken),
        },
        (req) => this.access.listApiTokens(req.op, req.params.ref, req.query),
      ),
      route(
        {
          method: 'DELETE',
          path: '/users/:ref/api-tokens/:token',
          summary: 'Delete an API token of a user',
          tag,
          scope: 'global',
          permission: 'api-token:delete',
          params: ofUser.extend({ token: field.ref }),
          status: 204,
          response: z.void(),
        },
        (req) => this.access.deleteApiToken(req.op, req.params.ref, req.params.token),
      ),
    ];
  }
}
