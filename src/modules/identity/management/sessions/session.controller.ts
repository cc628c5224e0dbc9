import { injectable } from 'inversify';
import { z } from 'zod';
import { Controller, route, type Route } from '../../../../core/http/routes/route';
import { changePassword, loginRequest, refreshRequest, tokens, whoami } from '../../contract/identity.api';
import { SessionService } from './session.service';
import { UserService } from '../users/user.service';

const tag = 'identity';

@injectable()
export class SessionController extends Controller {
  constructor(
    private readonly sessions: SessionService,
    private readonly users: UserService,
  ) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'POST',
          path: '/login',
          summary: 'Log in with name and password',
          tag,
          scope: 'public',
          reason: 'this is where an identity comes from',
          body: loginRequest,
          response: tokens,
          secretResponse: true,
          ownTransaction: true,
        },
        (req) => this.sessions.login(req.body.name, req.body.password, req.remoteAddress),
      ),
      route(
        {
          method: 'POST',
          path: '/login/refresh',
          summary: 'Exchange a refresh token for new tokens',
          tag,
          scope: 'public',
          reason: 'the refresh token is the credential',
          body: refreshRequest,
          response: tokens,
          secretResponse: true,
          ownTransaction: true,
        },
        (req) => this.sessions.refresh(req.body.refreshToken, req.remoteAddress),
      ),
      route(
        {
          method: 'POST',
          path: '/logout',
          summary: 'End the session',
          tag,
          scope: 'self',
          permission: 'session:delete',
          reason: 'everybody may leave',
          status: 204,
          response: z.void(),
        },
        (req) => this.sessions.logout(req.op, req.principal),
      ),
      route(
        {
          method: 'GET',
          path: '/whoami',
          summary: 'The caller and its projects',
          tag,
          scope: 'self',
          reason: "the caller's own name",
          response: whoami,
        },
        (req) => this.users.whoami(req.op, req.principal),
      ),
      route(
        {
          method: 'POST',
          path: '/users/me/password',
          summary: "Change the caller's own password",
          tag,
          scope: 'self',
          permission: 'session:update',
          reason: 'knowing the current password is the permission',
          body: changePassword,
          status: 204,
          response: z.void(),
          ownTransaction: true,
        },
        (req) => this.sessions.changePassword(req.principal, req.body, req.remoteAddress),
      ),
    ];
  }
}
