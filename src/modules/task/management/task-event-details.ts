import { injectable } from 'inversify';
import { Database } from '../../../core/db/database';
import { ProblemHints } from '../../../core/errors/problem-hints';
import { EventDetails, type ToldData } from '../../../core/events/event-details';
import type { LiveEventRecord } from '../../../core/events/live-event-record';
import { taskStates } from '../../../core/workflow/definition/task-state';
import { TaskOperations } from '../../../core/workflow/request/task-operations';
import { Hosts } from '../../host/contract/host.ports';
import { boundedError } from './bounded-error';
import { presentError } from './task-error.presenter';
import { TaskRepository } from './task.repository';
import type { TaskRow, TaskStepRow } from './task.row';

const failed = ({ data }: LiveEventRecord): boolean => typeof data['error'] === 'object' && data['error'] !== null;

/**
 * The engine stores with its events what failed; viewers are told the whole story, as `GET /tasks/{id}` tells it to
 * them. It is read when the event is told, so that a failure costs the engine nothing.
 */
@injectable()
export class TaskEventDetails extends EventDetails {
  override readonly type = 'task.updated';

  constructor(
    private readonly database: Database,
    private readonly tasks: TaskRepository,
    private readonly operations: TaskOperations,
    private readonly hosts: Hosts,
    private readonly hints: ProblemHints,
  ) {
    super();
  }

  override async of(events: readonly LiveEventRecord[]): Promise<ReadonlyMap<number, ToldData>> {
    const ids = [...new Set(events.filter(failed).map(({ subject }) => subject.id))];
    if (ids.length === 0) return new Map();
    const { op } = this.database;
    const [rows, steps] = await Promise.all([this.tasks.byIds(op, ids), this.tasks.steps(op, ids)]);
    const tasks = new Map(rows.map((row) => [row.id, row]));
    const stepsOf = Map.groupBy(steps, ({ taskId }) => taskId);
    const hostIds = [
      ...new Set([...rows.flatMap(({ error }) => error?.host ?? []), ...steps.flatMap(({ hostId }) => hostId ?? [])]),
    ];
    const hosts = hostIds.length === 0 ? new Map<string, string>() : await this.hosts.names(op, hostIds);
    const told = new Map<number, ToldData>();
    for (const event of events.filter(failed)) {
      const task = tasks.get(event.subject.id);
      // An operator's retry takes the error away: what was so then is told.
      if (task?.error == null) continue;
      const data = (operator: boolean): Record<string, unknown> => ({
        ...event.data,
        error: this.error(event, task, stepsOf.get(task.id) ?? [], hosts, operator),
      });
      told.set(event.seq, { plain: data(false), insight: { noun: 'host', data: data(true) } });
    }
    return told;
  }

  private error(
    { data }: LiveEventRecord,
    task: TaskRow,
    steps: readonly TaskStepRow[],
    hosts: ReadonlyMap<string, string>,
    operator: boolean,
  ): unknown {
    const then = taskStates.find((state) => state === data['state']) ?? task.state;
    const outline = this.operations.outline(task.type, task.version);
    // The task may have gone on since: the sentences are those of the state that the event tells of.
    const error = presentError({ ...task, state: then }, steps, { hosts, operator, hints: this.hints, outline });
    return error && boundedError(error);
  }
}
