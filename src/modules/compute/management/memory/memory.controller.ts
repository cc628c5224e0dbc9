import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { Controller, route, type Route } from '../../../../core/http/routes/route';
import { balloonRequest, instanceMemoryShown, instanceWithTask } from '../../contract/compute.api';
import { InstanceMemory } from './instance-memory.service';

const params = z.strictObject({ ref: field.ref });
const query = z.strictObject({ project: field.ref.optional() });
const tag = 'Instances';

/** What guests have of their memory. */
@injectable()
export class MemoryController extends Controller {
  constructor(private readonly memory: InstanceMemory) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/instances/:ref/memory',
          summary: 'What its guest has of its memory now, and says of it',
          tag,
          scope: 'resource',
          permission: 'instance:read',
          params,
          query,
          response: instanceMemoryShown,
        },
        (req) => this.memory.read(req.op, req.access, req.project?.id, req.params.ref, req.requestId),
      ),
      route(
        {
          method: 'POST',
          path: '/instances/:ref/actions/balloon',
          summary: 'Have its guest keep so much of its memory while it runs; the rest goes to its host',
          tag,
          scope: 'resource',
          permission: 'instance:balloon',
          params,
          query,
          body: balloonRequest,
          status: 202,
          response: instanceWithTask,
        },
        (req) =>
          this.memory.keep(
            req.op,
            { caller: req, projectId: req.project?.id, ref: req.params.ref },
            req.body.memoryBytes,
          ),
      ),
    ];
  }
}
