import { injectable } from 'inversify';
import { z } from 'zod';
import { sendJson } from '../../json-body';
import { NodeRoutes, type NodeRoute } from '../node-route';
import { liveTasksBody, LiveTasks } from '../../reports/live-tasks';
import { VerbEvents } from '../../verbs/verb-events';
import { bodyOf, reportBody } from './node-body';

const eventKey = z.string().min(1).max(300);
/** Of events that this build knows. */
const nodeEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('verb.done'), key: eventKey }),
  z.object({
    type: z.literal('progress'),
    key: eventKey,
    percent: z.number().min(0).max(100),
    message: z.string().max(500),
  }),
]);
const knownEvents: ReadonlySet<string> = new Set(nodeEvent.options.map((event) => event.shape.type.value));
const isKnown = (event: unknown): boolean =>
  knownEvents.has(String((event as { type?: unknown } | null | undefined)?.type));
/** Others come from newer agents, who can do without an answer to them. */
const eventsBody = z.object({
  events: z
    .array(z.unknown())
    .max(500)
    .transform((all) => all.filter(isKnown))
    .pipe(z.array(nodeEvent)),
});

/** What hosts say of the calls that tasks made, and ask about those tasks. */
@injectable()
export class TaskRoutes extends NodeRoutes {
  constructor(
    private readonly liveTasks: LiveTasks,
    private readonly events: VerbEvents,
  ) {
    super();
  }

  override nodeRoutes(): NodeRoute[] {
    return [
      {
        method: 'POST',
        path: '/tasks',
        handle: async ({ raw, res }) => {
          const { tasks } = await bodyOf(raw, liveTasksBody, reportBody);
          sendJson(res, 200, { live: await this.liveTasks.live(tasks) });
        },
      },
      {
        method: 'POST',
        path: '/events',
        handle: async ({ hostId, raw, res }) => {
          await this.take(hostId, (await bodyOf(raw, eventsBody, reportBody)).events);
          sendJson(res, 200, {});
        },
      },
    ];
  }

  private async take(hostId: string, events: z.infer<typeof eventsBody>['events']): Promise<void> {
    for (const event of events) {
      if (event.type === 'verb.done') await this.events.onVerbDone(hostId, event.key);
      else await this.events.onProgress(hostId, event.key, event.percent, event.message);
    }
  }
}
