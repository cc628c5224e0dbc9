import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { Controller, route, type Route, type RouteRequest } from '../../../../core/http/routes/route';
import { coreDumpDeletion, coreDumpRequest, coreDumps, coreDumpWithTask } from '../../contract/core-dumps.api';
import type { Of } from '../instances/instance-verbs.service';
import { CoreDumpDownloads } from './core-dump-downloads.service';
import { CoreDumps } from './core-dumps.service';

const params = z.strictObject({ ref: field.ref });
const ofDump = params.extend({ dump: field.id });
const query = z.strictObject({ project: field.ref.optional() });
const tag = 'Instances';
const permission = 'instance:core-dump';

const of = (req: RouteRequest<{ ref: string }, unknown, unknown>): Of => ({
  caller: { access: req.access, requestId: req.requestId },
  projectId: req.project?.id,
  ref: req.params.ref,
});

/** What was in the memory of guests. */
@injectable()
export class CoreDumpController extends Controller {
  constructor(
    private readonly dumps: CoreDumps,
    private readonly downloads: CoreDumpDownloads,
  ) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'POST',
          path: '/instances/:ref/actions/core-dump',
          summary: 'Write what is in its memory into a file on its host; it stands still meanwhile, and goes on',
          tag,
          scope: 'resource',
          permission,
          params,
          query,
          body: coreDumpRequest,
          status: 202,
          response: coreDumpWithTask,
        },
        (req) => this.dumps.make(req.op, of(req), req.body.format),
      ),
      route(
        {
          method: 'GET',
          path: '/instances/:ref/core-dumps',
          summary: 'The core dumps that its host has of it, the newest first',
          tag,
          scope: 'resource',
          permission,
          params,
          query,
          response: coreDumps,
        },
        (req) => this.dumps.list(req.op, req.access, req.project?.id, req.params.ref, req.requestId),
      ),
      route(
        {
          method: 'GET',
          path: '/instances/:ref/core-dumps/:dump/content',
          summary: 'A core dump itself; with the header Range (bytes=N-) from that byte on',
          tag,
          scope: 'resource',
          permission,
          params: ofDump,
          query,
          produces: 'application/octet-stream',
          status: [200],
          response: z.string(),
        },
        async (req) => {
          await this.downloads.send({
            op: req.op,
            access: req.access,
            projectId: req.project?.id,
            ref: req.params.ref,
            dumpId: req.params.dump,
            range: req.raw.headers.range,
            requestId: req.requestId,
            res: req.res,
          });
        },
      ),
      route(
        {
          method: 'DELETE',
          path: '/instances/:ref/core-dumps/:dump',
          summary: 'Delete a core dump',
          tag,
          scope: 'resource',
          permission,
          params: ofDump,
          query,
          status: 202,
          response: coreDumpDeletion,
        },
        (req) => this.dumps.remove(req.op, of(req), req.params.dump),
      ),
    ];
  }
}
