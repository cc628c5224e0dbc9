import { injectable } from 'inversify';
import { z } from 'zod';
import { Controller, route, type Route } from '../../../../core/http/routes/route';
import * as field from '../../../../core/http/routes/fields';
import { consoleLog, consoleLogQuery, consoleRequest, consoleTicket } from '../../contract/compute.api';
import { ConsoleLogs } from './console-logs.service';
import { consolePermission, ConsoleService } from './console.service';
import { Screenshots } from './screenshots.service';

const params = z.strictObject({ ref: field.ref });
const query = z.strictObject({ project: field.ref.optional() });
const tag = 'Instances';

/** The ways to what a guest shows: its serial line and its screen. */
@injectable()
export class ConsoleController extends Controller {
  constructor(
    private readonly consoles: ConsoleService,
    private readonly logs: ConsoleLogs,
    private readonly screenshots: Screenshots,
  ) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/instances/:ref/console-log',
          summary: 'What its guest wrote on the serial console',
          tag,
          scope: 'resource',
          permission: consolePermission,
          params,
          query: consoleLogQuery,
          response: consoleLog,
        },
        (req) => this.logs.read(req.op, req.access, req.project?.id, req.params.ref, req.query.since, req.requestId),
      ),
      route(
        {
          method: 'GET',
          path: '/instances/:ref/screenshot',
          summary: 'What its screen shows now: a PNG',
          tag,
          scope: 'resource',
          permission: consolePermission,
          params,
          query,
          produces: 'image/png',
          response: z.string(),
        },
        async (req) => {
          const png = await this.screenshots.take(req.op, req.access, req.project?.id, req.params.ref, req.requestId);
          req.res.writeHead(200, {
            'content-type': 'image/png',
            'content-length': png.length,
            'cache-control': 'no-store',
          });
          req.res.end(png);
        },
      ),
      route(
        {
          method: 'POST',
          path: '/instances/:ref/actions/console',
          summary: 'Open its serial console, or its screen: a one-time ticket',
          tag,
          scope: 'resource',
          permission: consolePermission,
          params,
          query,
          body: consoleRequest,
          status: 201,
          secretResponse: true,
          response: consoleTicket,
        },
        (req) => this.consoles.ticket(req.op, req.access, req.project?.id, req.params.ref, req.body.protocol),
      ),
    ];
  }
}
