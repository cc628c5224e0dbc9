import { injectable } from 'inversify';
import { z } from 'zod';
import { Authenticator } from '../auth/authenticator';
import { Problem } from '../errors/problem';
import { queryInteger, ref } from '../http/routes/fields';
import { Controller, route, type Route } from '../http/routes/route';
import { EventStreams } from './event-streams.service';

const query = z.strictObject({
  since: queryInteger(0, Number.MAX_SAFE_INTEGER)
    .optional()
    .meta({ description: 'Resume after this sequence number. The header Last-Event-ID does the same and wins.' }),
  project: ref.optional().meta({ description: 'Only events of this project (id or name).' }),
  type: z
    .string()
    .regex(/^[a-z-]+(\.[a-z-]+)?(,[a-z-]+(\.[a-z-]+)?)*$/)
    .max(500)
    .optional()
    .meta({ description: 'Nouns or whole types, separated by commas: instance,task.updated' }),
});

/** Live events for programs. Browsers use socket.io at `/api/v1/live`. */
@injectable()
export class EventsController extends Controller {
  constructor(
    private readonly streams: EventStreams,
    private readonly authenticator: Authenticator,
  ) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/events/position',
          summary: 'Where events are now: what is read after this answer contains all events up to it',
          tag: 'events',
          scope: 'self',
          reason: 'a number that tells nothing of anyone',
          response: z.object({ seq: z.number().int() }),
        },
        async () => ({ seq: this.streams.position }),
      ),
      route(
        {
          method: 'GET',
          path: '/events',
          summary: 'Follow changes as Server-Sent Events',
          tag: 'events',
          scope: 'self',
          reason: 'each caller gets the events of what it may read',
          query,
          produces: 'text/event-stream',
          response: z.string(),
        },
        async (req) => {
          const header = req.raw.headers['last-event-id'];
          const since = header === undefined ? req.query.since : this.sequence(header);
          const project =
            req.query.project === undefined
              ? undefined
              : (await this.authenticator.resolveProject(req.principal, req.query.project)).id;
          await this.streams.serve({
            principal: req.principal,
            filter: { project, types: req.query.type?.split(',') ?? [] },
            since,
            res: req.res,
          });
        },
      ),
    ];
  }

  private sequence(header: string | string[]): number {
    if (typeof header === 'string' && /^\d{1,15}$/.test(header)) return Number(header);
    throw new Problem({ status: 400, code: 'invalid_request', detail: 'Last-Event-ID must be a sequence number.' });
  }
}
