import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { pageOf, pageQuery } from '../../../../core/http/routes/pagination';
import { Controller, route, type Route } from '../../../../core/http/routes/route';
import { createProject, member, project, setMember, updateProject } from '../../contract/identity.api';
import { ProjectService } from './project.service';

const tag = 'identity';
const params = z.strictObject({ ref: field.ref });
const memberParams = z.strictObject({ ref: field.ref, userId: field.ref });

@injectable()
export class ProjectController extends Controller {
  constructor(private readonly projects: ProjectService) {
    super();
  }

  override routes(): Route[] {
    return [...this.projectRoutes(), ...this.memberRoutes()];
  }

  private projectRoutes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/projects',
          summary: 'List the visible projects by name',
          tag,
          scope: 'collection',
          permission: 'project:read',
          query: pageQuery,
          response: pageOf(project),
        },
        (req) => this.projects.list(req.op, req.project ? [req.project.id] : req.access.projects, req.query),
      ),
      route(
        {
          method: 'POST',
          path: '/projects',
          summary: 'Create a project',
          tag,
          scope: 'global',
          permission: 'project:create',
          body: createProject,
          status: 201,
          response: project,
        },
        (req) => this.projects.create(req.op, req.body),
      ),
      route(
        {
          method: 'GET',
          path: '/projects/:ref',
          summary: 'Show a project',
          tag,
          scope: 'resource',
          permission: 'project:read',
          params,
          response: project,
        },
        (req) => this.projects.get(req.op, req.access, req.params.ref),
      ),
      route(
        {
          method: 'PATCH',
          path: '/projects/:ref',
          summary: 'Rename or describe a project',
          tag,
          scope: 'resource',
          permission: 'project:update',
          params,
          body: updateProject,
          response: project,
        },
        (req) => this.projects.update(req.op, req.access, req.params.ref, req.body),
      ),
      route(
        {
          method: 'DELETE',
          path: '/projects/:ref',
          summary: 'Delete an empty project',
          tag,
          scope: 'global',
          permission: 'project:delete',
          params,
          status: 204,
          response: z.void(),
        },
        (req) => this.projects.delete(req.op, req.access, req.params.ref),
      ),
    ];
  }

  private memberRoutes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/projects/:ref/members',
          summary: 'List the members of a project',
          tag,
          scope: 'resource',
          permission: 'member:read',
          params,
          query: pageQuery.omit({ project: true }),
          response: pageOf(member),
        },
        (req) => this.projects.listMembers(req.op, req.access, req.params.ref, req.query),
      ),
      route(
        {
          method: 'PUT',
          path: '/projects/:ref/members/:userId',
          summary: 'Add a member (by id or name) or change its role',
          tag,
          scope: 'resource',
          permission: 'member:update',
          params: memberParams,
          body: setMember,
          response: member,
        },
        (req) => this.projects.setMember(req.op, req.access, req.params.ref, req.params.userId, req.body.role),
      ),
      route(
        {
          method: 'DELETE',
          path: '/projects/:ref/members/:userId',
          summary: 'Remove a member',
          tag,
          scope: 'resource',
          permission: 'member:delete',
          params: memberParams,
          status: 204,
          response: z.void(),
        },
        (req) => this.projects.removeMember(req.op, req.access, req.params.ref, req.params.userId),
      ),
    ];
  }
}
