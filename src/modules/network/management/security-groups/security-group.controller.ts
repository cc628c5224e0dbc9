import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { pageOf } from '../../../../core/http/routes/pagination';
import { Controller, projectOf, route, type Route } from '../../../../core/http/routes/route';
import {
  createSecurityGroup,
  createSecurityGroupRule,
  securityGroup,
  securityGroupListQuery,
  securityGroupRule,
  securityGroupWithRules,
  updatePort,
  updateSecurityGroup,
} from '../../contract/security-group.api';
import { port } from '../../contract/network.api';
import { PortUpdateService } from './port-update.service';
import { SecurityGroupService } from './security-group.service';

const params = z.strictObject({ ref: field.ref });
const query = z.strictObject({ project: field.ref.optional() });
const tag = 'Security groups';

@injectable()
export class SecurityGroupController extends Controller {
  constructor(
    private readonly groups: SecurityGroupService,
    private readonly ports: PortUpdateService,
  ) {
    super();
  }

  override routes(): Route[] {
    return [...this.groupRoutes(), ...this.ruleRoutes(), this.portRoute()];
  }

  private groupRoutes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/security-groups',
          summary: 'List security groups',
          tag,
          scope: 'collection',
          permission: 'security-group:read',
          query: securityGroupListQuery,
          response: pageOf(securityGroup),
        },
        (req) => this.groups.list(req.op, req.access, req.project?.id, req.query),
      ),
      route(
        {
          method: 'POST',
          path: '/security-groups',
          summary: 'Create a security group, without rules',
          tag,
          scope: 'project',
          permission: 'security-group:create',
          query,
          body: createSecurityGroup,
          status: 201,
          response: securityGroupWithRules,
        },
        (req) => this.groups.create(req.op, projectOf(req).id, req.body),
      ),
      route(
        {
          method: 'GET',
          path: '/security-groups/:ref',
          summary: 'Show a security group with its rules',
          tag,
          scope: 'resource',
          permission: 'security-group:read',
          params,
          query,
          response: securityGroupWithRules,
        },
        (req) => this.groups.get(req.op, req.access, req.project?.id, req.params.ref),
      ),
      route(
        {
          method: 'PATCH',
          path: '/security-groups/:ref',
          summary: 'Change name or description',
          tag,
          scope: 'resource',
          permission: 'security-group:update',
          params,
          query,
          body: updateSecurityGroup,
          response: securityGroupWithRules,
        },
        (req) => this.groups.update(req.op, req.access, req.project?.id, req.params.ref, req.body),
      ),
      route(
        {
          method: 'DELETE',
          path: '/security-groups/:ref',
          summary: 'Delete a security group that nothing uses',
          tag,
          scope: 'resource',
          permission: 'security-group:delete',
          params,
          query,
          status: 204,
          response: z.void(),
        },
        (req) => this.groups.remove(req.op, req.access, req.project?.id, req.params.ref),
      ),
    ];
  }

  private portRoute(): Route {
    return route(
      {
        method: 'PATCH',
        path: '/ports/:id',
        summary: 'Change the security groups of a port',
        tag: 'Ports',
        scope: 'resource',
        permission: 'port:update',
        params: z.strictObject({ id: field.id }),
        query,
        body: updatePort,
        response: port,
      },
      (req) => this.ports.update(req.op, req.access, req.params.id, req.body),
    );
  }

  private ruleRoutes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/security-groups/:ref/rules',
          summary: 'List the rules of a security group',
          tag,
          scope: 'resource',
          permission: 'security-group:read',
          params,
          query,
          response: pageOf(securityGroupRule),
        },
        (req) => this.groups.listRules(req.op, req.access, req.project?.id, req.params.ref),
      ),
      route(
        {
          method: 'POST',
          path: '/security-groups/:ref/rules',
          summary: 'Add a rule',
          tag,
          scope: 'resource',
          permission: 'security-group:update',
          params,
          query,
          body: createSecurityGroupRule,
          status: 201,
          response: securityGroupRule,
        },
        (req) => this.groups.addRule(req.op, req.access, req.project?.id, req.params.ref, req.body),
      ),
      route(
        {
          method: 'DELETE',
          path: '/security-group-rules/:id',
          summary: 'Remove a rule; flows that it alone allowed are cut',
          tag,
          scope: 'resource',
          permission: 'security-group:update',
          params: z.strictObject({ id: field.id }),
          query,
          status: 204,
          response: z.void(),
        },
        (req) => this.groups.removeRule(req.op, req.access, req.params.id),
      ),
    ];
  }
}
