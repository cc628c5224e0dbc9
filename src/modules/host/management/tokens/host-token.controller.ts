import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { pageOf, pageQuery } from '../../../../core/http/routes/pagination';
import { Controller, route, type Route } from '../../../../core/http/routes/route';
import { createHostToken, hostToken, hostTokenInfo } from '../../contract/host.api';
import { HostTokenService } from './host-token.service';

@injectable()
export class HostTokenController extends Controller {
  constructor(private readonly tokens: HostTokenService) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'POST',
          path: '/host-tokens',
          summary: 'Make a token with which one host can join',
          tag: 'Hosts',
          scope: 'global',
          permission: 'host:enroll',
          body: createHostToken,
          status: 201,
          secretResponse: true,
          response: hostToken,
        },
        (req) => this.tokens.issue(req.op, req.body.expiresInMinutes, req.principal.id),
      ),
      route(
        {
          method: 'GET',
          path: '/host-tokens',
          summary: 'List enrolment tokens',
          tag: 'Hosts',
          scope: 'global',
          permission: 'host:enroll',
          query: pageQuery.omit({ project: true }),
          response: pageOf(hostTokenInfo),
        },
        (req) => this.tokens.list(req.op, req.query),
      ),
      route(
        {
          method: 'DELETE',
          path: '/host-tokens/:id',
          summary: 'Withdraw an enrolment token',
          tag: 'Hosts',
          scope: 'global',
          permission: 'host:enroll',
          params: z.strictObject({ id: field.id }),
          status: 204,
          response: z.void(),
        },
        (req) => this.tokens.remove(req.op, req.params.id),
      ),
    ];
  }
}
