import { injectable } from 'inversify';
import { z } from 'zod';
import { Controller, projectOf, route, type Route } from '../../../../core/http/routes/route';
import * as field from '../../../../core/http/routes/fields';
import { pageOf, pageQuery } from '../../../../core/http/routes/pagination';
import { createSshKey, sshKey, updateSshKey } from '../../contract/compute.api';
import { SshKeyService } from './ssh-key.service';

const byProject = z.strictObject({ project: field.ref.optional() });

@injectable()
export class SshKeyController extends Controller {
  constructor(private readonly keys: SshKeyService) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/ssh-keys',
          summary: 'List ssh keys',
          tag: 'SSH keys',
          scope: 'collection',
          permission: 'ssh-key:read',
          query: pageQuery,
          response: pageOf(sshKey),
        },
        (req) => this.keys.list(req.op, req.access, req.project?.id, req.query),
      ),
      route(
        {
          method: 'POST',
          path: '/ssh-keys',
          summary: 'Store an ssh public key',
          tag: 'SSH keys',
          scope: 'project',
          permission: 'ssh-key:create',
          query: byProject,
          body: createSshKey,
          status: 201,
          response: sshKey,
        },
        (req) => this.keys.create(req.op, projectOf(req).id, req.body),
      ),
      route(
        {
          method: 'PATCH',
          path: '/ssh-keys/:ref',
          summary: 'Rename an ssh key',
          tag: 'SSH keys',
          scope: 'resource',
          permission: 'ssh-key:update',
          params: z.strictObject({ ref: field.ref }),
          query: byProject,
          body: updateSshKey,
          response: sshKey,
        },
        (req) => this.keys.update(req.op, req.access, req.project?.id, req.params.ref, req.body),
      ),
      route(
        {
          method: 'DELETE',
          path: '/ssh-keys/:ref',
          summary: 'Delete an ssh key',
          tag: 'SSH keys',
          scope: 'resource',
          permission: 'ssh-key:delete',
          params: z.strictObject({ ref: field.ref }),
          query: byProject,
          status: 204,
          response: z.void(),
        },
        (req) => this.keys.remove(req.op, req.access, req.project?.id, req.params.ref),
      ),
    ];
  }
}
