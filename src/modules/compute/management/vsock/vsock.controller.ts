import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { Controller, route, type Route } from '../../../../core/http/routes/route';
import { vsockRequest, vsockTicket } from '../../contract/compute.api';
import { consolePermission } from '../consoles/console.service';
import { VsockService } from './vsock.service';

/** Ways to ports of guests that need no network. */
@injectable()
export class VsockController extends Controller {
  constructor(private readonly vsocks: VsockService) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'POST',
          path: '/instances/:ref/actions/vsock',
          summary: 'Open a stream to a port of its guest, without a network: a one-time ticket',
          tag: 'Instances',
          scope: 'resource',
          permission: consolePermission,
          params: z.strictObject({ ref: field.ref }),
          query: z.strictObject({ project: field.ref.optional() }),
          body: vsockRequest,
          status: 201,
          secretResponse: true,
          response: vsockTicket,
        },
        (req) => this.vsocks.ticket(req.op, req.access, req.project?.id, req.params.ref, req.body.port),
      ),
    ];
  }
}
