import { injectable } from 'inversify';
import { z } from 'zod';
import { Controller, projectOf, route, type Route } from '../../../../core/http/routes/route';
import * as field from '../../../../core/http/routes/fields';
import { pageOf } from '../../../../core/http/routes/pagination';
import {
  attachedVolumeWithTask,
  attachPort,
  attachVolume,
  createInstance,
  createInstances,
  guestData,
  instance,
  instanceCheck,
  instanceListQuery,
  instancesWithTask,
  instanceWithTask,
  portWithTask,
  rebootRequest,
  rebuildRequest,
  rescueRequest,
  resizeRequest,
  stopRequest,
  updateInstance,
} from '../../contract/compute.api';
import { GuestDataService } from '../guest-data/guest-data.service';
import { InstanceCreation } from './instance-creation.service';
import type { Caller } from './instance-task';
import { lockRequest } from '../../contract/instance-labels';
import { InstanceEditing } from './instance-editing.service';
import { InstanceRebuilding } from './instance-rebuilding.service';
import { InstanceRescuing } from './instance-rescuing.service';
import { InstanceResizing } from './instance-resizing.service';
import { InstanceService } from './instance.service';
import { InstanceVerbs } from './instance-verbs.service';
import { InstanceVolumes } from './instance-volumes.service';

const params = z.strictObject({ ref: field.ref });
const query = z.strictObject({ project: field.ref.optional() });
const tag = 'Instances';

/** What every verb on an instance has in common: its task is what is answered. */
const action = <P extends string>(verb: P) =>
  ({
    method: 'POST',
    path: `/instances/:ref/actions/${verb}`,
    tag,
    scope: 'resource',
    params,
    query,
    status: 202,
    response: instanceWithTask,
  }) as const;

const of = (
  req: Caller & { project?: { id: string }; params: { ref: string } },
): { caller: Caller; projectId: string | undefined; ref: string } => ({
  caller: req,
  projectId: req.project?.id,
  ref: req.params.ref,
});

@injectable()
export class InstanceController extends Controller {
  constructor(
    private readonly creation: InstanceCreation,
    private readonly instances: InstanceService,
    private readonly verbs: InstanceVerbs,
    private readonly editing: InstanceEditing,
    private readonly resizing: InstanceResizing,
    private readonly rebuilding: InstanceRebuilding,
    private readonly rescuing: InstanceRescuing,
    private readonly volumes: InstanceVolumes,
    private readonly guestData: GuestDataService,
  ) {
    super();
  }

  override routes(): Route[] {
    return [
      ...this.collectionRoutes(),
      ...this.resourceRoutes(),
      ...this.portRoutes(),
      ...this.volumeRoutes(),
      ...this.actionRoutes(),
      ...this.changeRoutes(),
    ];
  }

  private collectionRoutes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/instances',
          summary: 'List instances',
          tag,
          scope: 'collection',
          permission: 'instance:read',
          query: instanceListQuery,
          response: pageOf(instance),
        },
        (req) => this.instances.list(req.op, req.access, req.project?.id, req.query),
      ),
      route(
        {
          method: 'POST',
          path: '/instances',
          summary: 'Create an instance',
          tag,
          scope: 'project',
          permission: 'instance:create',
          query,
          body: createInstance,
          status: 202,
          response: instanceWithTask,
        },
        (req) => this.creation.create(req.op, req, projectOf(req), req.body),
      ),
      route(
        {
          method: 'POST',
          path: '/instances/batch',
          summary: 'Create several instances of a kind, all of them or none',
          tag,
          scope: 'project',
          permission: 'instance:create',
          query,
          body: createInstances,
          status: 202,
          response: instancesWithTask,
        },
        (req) => this.creation.createBatch(req.op, req, projectOf(req), req.body),
      ),
      route(
        {
          method: 'POST',
          path: '/instances/check',
          summary: 'Ask whether a create would be accepted now; makes nothing',
          tag,
          scope: 'project',
          permission: 'instance:create',
          query,
          body: createInstance.extend({ count: createInstances.shape.count.default(1) }),
          response: instanceCheck,
        },
        (req) => this.creation.check(req.op, req, projectOf(req), req.body),
      ),
    ];
  }

  private resourceRoutes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/instances/:ref',
          summary: 'Show an instance',
          tag,
          scope: 'resource',
          permission: 'instance:read',
          params,
          query,
          response: instance,
        },
        (req) => this.instances.get(req.op, req.access, req.project?.id, req.params.ref),
      ),
      route(
        {
          method: 'GET',
          path: '/instances/:ref/guest-data',
          summary: 'What its guest reads: metadata, network data, user data',
          tag,
          scope: 'resource',
          permission: 'instance:guest-data',
          params,
          query,
          response: guestData,
        },
        (req) => this.guestData.get(req.op, req.access, req.project?.id, req.params.ref),
      ),
      route(
        {
          method: 'PATCH',
          path: '/instances/:ref',
          summary: 'Change name, description, tags, metadata, protection or the grace period of stops',
          tag,
          scope: 'resource',
          permission: 'instance:update',
          params,
          query,
          body: updateInstance,
          response: instance,
        },
        (req) => this.editing.update(req.op, of(req), req.body),
      ),
      route(
        {
          method: 'DELETE',
          path: '/instances/:ref',
          summary: 'Delete an instance with its root volume; other volumes stay',
          tag,
          scope: 'resource',
          permission: 'instance:delete',
          params,
          query,
          status: 202,
          response: instanceWithTask,
        },
        (req) => this.verbs.delete(req.op, of(req)),
      ),
    ];
  }

  private portRoutes(): Route[] {
    return [
      route(
        {
          method: 'POST',
          path: '/instances/:ref/ports',
          summary: 'Attach a port: one network card more, at once while it runs',
          tag,
          scope: 'resource',
          permission: 'instance:attach',
          params,
          query,
          body: attachPort,
          status: 202,
          response: portWithTask,
        },
        (req) => this.verbs.attachPort(req.op, of(req), req.body),
      ),
      route(
        {
          method: 'DELETE',
          path: '/instances/:ref/ports/:port',
          summary: 'Detach and delete a port of an instance, once its guest has let the card go',
          tag,
          scope: 'resource',
          permission: 'instance:attach',
          params: params.extend({ port: field.id }),
          query,
          status: 202,
          response: instanceWithTask,
        },
        (req) => this.verbs.detachPort(req.op, of(req), req.params.port),
      ),
    ];
  }

  private volumeRoutes(): Route[] {
    return [
      route(
        {
          method: 'POST',
          path: '/instances/:ref/volumes',
          summary: 'Attach a volume: one disk more, at once while it runs',
          tag,
          scope: 'resource',
          permission: 'instance:attach',
          params,
          query,
          body: attachVolume,
          status: 202,
          response: attachedVolumeWithTask,
        },
        (req) => this.volumes.attach(req.op, of(req), req.body),
      ),
      route(
        {
          method: 'DELETE',
          path: '/instances/:ref/volumes/:volume',
          summary: 'Detach a volume of an instance, once its guest has let the disk go; the volume stays',
          tag,
          scope: 'resource',
          permission: 'instance:attach',
          params: params.extend({ volume: field.ref }),
          query,
          status: 202,
          response: instanceWithTask,
        },
        (req) => this.volumes.detach(req.op, of(req), req.params.volume),
      ),
    ];
  }

  private actionRoutes(): Route[] {
    return [
      route(
        {
          ...action('start'),
          summary: 'Start an instance',
          permission: 'instance:start',
        },
        (req) => this.verbs.start(req.op, of(req)),
      ),
      route(
        {
          ...action('stop'),
          summary: 'Stop an instance',
          permission: 'instance:stop',
          body: stopRequest,
        },
        (req) => this.verbs.stop(req.op, of(req), req.body),
      ),
      route(
        {
          ...action('reboot'),
          summary: 'Reboot an instance',
          permission: 'instance:reboot',
          body: rebootRequest,
        },
        (req) => this.verbs.reboot(req.op, of(req), req.body),
      ),
      route(
        {
          ...action('pause'),
          summary: 'Pause an instance: its vCPUs stand still',
          permission: 'instance:pause',
        },
        (req) => this.verbs.pause(req.op, of(req)),
      ),
      route(
        {
          ...action('suspend'),
          summary: 'Suspend an instance: its memory goes to its host’s disk, its VMM ends',
          permission: 'instance:suspend',
        },
        (req) => this.verbs.suspend(req.op, of(req)),
      ),
      route(
        {
          ...action('resume'),
          summary: 'Resume a paused or suspended instance',
          permission: 'instance:resume',
        },
        (req) => this.verbs.resume(req.op, of(req)),
      ),
      route(
        {
          ...action('nmi'),
          summary: 'Send a non-maskable interrupt to its guest',
          permission: 'instance:nmi',
        },
        (req) => this.verbs.nmi(req.op, of(req)),
      ),
    ];
  }

  private changeRoutes(): Route[] {
    return [
      route(
        {
          ...action('resize'),
          summary: 'Give an instance another flavor on its host: a stopped one, or within its maximum one that runs',
          permission: 'instance:resize',
          body: resizeRequest,
        },
        (req) => this.resizing.resize(req.op, of(req), req.body.flavor),
      ),
      route(
        {
          ...action('rebuild'),
          summary: 'Give a stopped instance a new root disk of an image; what the old one holds is lost',
          permission: 'instance:rebuild',
          body: rebuildRequest,
        },
        (req) => this.rebuilding.rebuild(req.op, of(req), req.body.image),
      ),
      route(
        {
          ...action('rescue'),
          summary: 'Boot a stopped instance from a temporary disk of an image, with its own disk as a second one',
          permission: 'instance:rescue',
          body: rescueRequest,
        },
        (req) => this.rescuing.rescue(req.op, of(req), req.body.image),
      ),
      route(
        {
          ...action('unrescue'),
          summary: 'Turn an instance in rescue off, and let it have its own disk alone again',
          permission: 'instance:rescue',
        },
        (req) => this.rescuing.unrescue(req.op, of(req)),
      ),
      route(
        {
          ...action('lock'),
          summary: 'Lock an instance: all but reads, its console and unlocking is refused',
          permission: 'instance:lock',
          body: lockRequest,
          status: 200,
          response: instance,
        },
        (req) => this.editing.lock(req.op, of(req), req.body.reason),
      ),
      route(
        {
          ...action('unlock'),
          summary: 'Unlock an instance',
          permission: 'instance:lock',
          status: 200,
          response: instance,
        },
        (req) => this.editing.unlock(req.op, of(req)),
      ),
    ];
  }
}
