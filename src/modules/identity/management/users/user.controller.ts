import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { pageOf, pageQuery } from '../../../../core/http/routes/pagination';
import { Controller, route, type Route } from '../../../../core/http/routes/route';
import { createUser, updateUser, user } from '../../contract/identity.api';
import { UserService } from './user.service';

const tag = 'identity';
const params = z.strictObject({ ref: field.ref });

@injectable()
export class UserController extends Controller {
  constructor(private readonly users: UserService) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/users',
          summary: 'List users by name',
          tag,
          scope: 'global',
          permission: 'user:read',
          query: pageQuery.omit({ project: true }),
          response: pageOf(user),
        },
        (req) => this.users.list(req.op, req.query),
      ),
      route(
        {
          method: 'POST',
          path: '/users',
          summary: 'Create a user',
          tag,
          scope: 'global',
          permission: 'user:create',
          body: createUser,
          status: 201,
          response: user,
        },
        (req) => this.users.create(req.op, req.body),
      ),
      route(
        {
          method: 'GET',
          path: '/users/:ref',
          summary: 'Show a user',
          tag,
          scope: 'global',
          permission: 'user:read',
          params,
          response: user,
        },
        (req) => this.users.get(req.op, req.params.ref),
      ),
      route(
        {
          method: 'PATCH',
          path: '/users/:ref',
          summary: 'Set password, admin role, or enable and disable',
          tag,
          scope: 'global',
          permission: 'user:update',
          params,
          body: updateUser,
          response: user,
        },
        (req) => this.users.update(req.op, req.params.ref, req.body),
      ),
      route(
        {
          method: 'DELETE',
          path: '/users/:ref',
          summary: 'Delete a user',
          tag,
          scope: 'global',
          permission: 'user:delete',
          params,
          status: 204,
          response: z.void(),
        },
        (req) => this.users.delete(req.op, req.params.ref),
      ),
    ];
  }
}
