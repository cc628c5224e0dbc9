import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Access } from '../../../core/auth/access';
import { Database } from '../../../core/db/database';
import type { Op } from '../../../core/db/rows/op';
import { conflict, forbidden, notFound, unprocessable } from '../../../core/errors/problem';
import { ProblemHints } from '../../../core/errors/problem-hints';
import { decodeCursor, pageFrom } from '../../../core/db/rows/cursor';
import { looksLikeId } from '../../../core/http/routes/fields';
import type { Page } from '../../../core/http/routes/pagination';
import { Logging } from '../../../core/telemetry/logging';
import { TaskOperations } from '../../../core/workflow/request/task-operations';
import { Workflows } from '../../../core/workflow/request/workflows';
import { finalStates, taskStates, type TaskState } from '../../../core/workflow/definition/task-state';
import { seesHosts } from '../../host/contract/sees-hosts';
import { Hosts } from '../../host/contract/host.ports';
import type { OperatorVerb, StateFilter, Task, TaskDetail, TaskListQuery } from '../contract/task.api';
import type { Viewer } from './task-error.presenter';
import { TaskListRepository } from './task-list.repository';
import {
  presentAudit,
  presentIrrevocable,
  presentRelated,
  presentSteps,
  presentTask,
  presentWaiting,
} from './task.presenter';
import { TaskRepository } from './task.repository';
import type { TaskDetailRow, TaskRow, TaskStepRow } from './task.row';

const cursorKey = z.tuple([z.iso.datetime(), z.uuid()]);

/** Why, and by which request, a verb is used. */
export interface ActionContext {
  reason: string | undefined;
  requestId: string;
}

const statesOf = (wanted: readonly StateFilter[] | undefined): TaskState[] | undefined =>
  wanted &&
  taskStates.filter((state) => wanted.includes(state) || (wanted.includes('live') && !finalStates.includes(state)));

/** Tasks as users and operators see them. A task without project is seen by system admins only. */
@injectable()
export class TaskService {
  private readonly log: Logger;

  constructor(
    private readonly tasks: TaskRepository,
    private readonly lists: TaskListRepository,
    private readonly workflows: Workflows,
    private readonly operations: TaskOperations,
    private readonly hosts: Hosts,
    private readonly database: Database,
    private readonly hints: ProblemHints,
    logging: Logging,
  ) {
    this.log = logging.for('task');
  }

  /** Newest first. */
  async list(op: Op, access: Access, projectId: string | undefined, query: TaskListQuery): Promise<Page<Task>> {
    const after = decodeCursor(query.cursor, cursorKey);
    const hostId = query.host === undefined ? undefined : await this.hostId(op, access, query.host);
    const rows = await this.lists.page(op, {
      projects: projectId === undefined ? access.projects : [projectId],
      states: statesOf(query.state),
      types: query.type && (await this.types(op, query.type)),
      ...(query.subject !== undefined &&
        (looksLikeId(query.subject) ? { subjectId: query.subject.toLowerCase() } : { subjectName: query.subject })),
      subjectKind: query.subjectKind,
      hostId,
      parentId: query.parent,
      q: query.q,
      createdAfter: query.createdAfter,
      createdBefore: query.createdBefore,
      endedAfter: query.endedAfter,
      endedBefore: query.endedBefore,
      errors: query.errors,
      withoutSystem: query.system === false,
      after: after && { created: after[0], id: after[1] },
      limit: query.limit + 1,
    });
    const { items, next } = pageFrom(rows, query.limit, (row) => [row.createdKey, row.id]);
    return { items: await this.presentAll(op, access, items), next };
  }

  /** With its steps. Waits up to `waitMs` for it to settle (to end, or to get stuck). */
  async get(op: Op, access: Access, id: string, waitMs: number): Promise<TaskDetail> {
    if (waitMs <= 0) return this.detail(op, access, await this.visible(op, access, id));
    const seen: TaskDetailRow[] = [];
    await this.workflows.settled(id, waitMs, async () => {
      const task = await this.visible(op, access, id);
      seen.push(task);
      return task.state;
    });
    // What was waited for has changed meanwhile, whatever came of it.
    const over = seen.find(({ state }) => state === 'stuck' || finalStates.includes(state));
    return this.detail(op, access, over ?? (await this.visible(op, access, id)));
  }

  /**
   * Asks it to stop at its next boundary and undo. 409 `task_over` when it has ended, `task_irrevocable` when it only goes
   * forward and has begun.
   */
  async cancel(op: Op, access: Access, id: string, action: ActionContext): Promise<TaskDetail> {
    const task = await this.visible(op, access, id);
    const asked = await this.workflows.cancel(op, id, access.principal.id);
    if (asked === 'too_late')
      throw conflict(
        'task_irrevocable',
        `The task can't be cancelled any more: ${this.operations.goesForward(task.type, task.version) ?? 'it only goes forward'}.`,
        { state: task.state },
      );
    if (asked === 'over')
      throw conflict('task_over', `The task has ${task.state === 'succeeded' ? 'succeeded' : 'ended'} already.`, {
        state: task.state,
      });
    await this.tasks.record(op, {
      taskId: id,
      verb: 'cancel',
      step: task.step,
      reason: action.reason ?? null,
      by: access.principal,
      requestId: action.requestId,
    });
    this.log.info(
      { taskId: id, requestId: action.requestId, type: task.type, by: access.principal.id, reason: action.reason },
      'cancel requested',
    );
    return this.detail(op, access, await this.visible(op, access, id));
  }

  /** Verbs on stuck tasks; 409 `task_not_stuck` on others. Recorded in the same transaction. */
  async operate(op: Op, access: Access, id: string, verb: OperatorVerb, action: ActionContext): Promise<TaskDetail> {
    const before = await this.visible(op, access, id);
    const step =
      (await this.tasks.steps(op, [id])).find(
        (row) => row.phase === 'undo' && (row.state === 'failed' || row.state === 'running'),
      )?.name ?? before.step;
    if (verb === 'retry') await this.operations.retry(op, id);
    else if (verb === 'abandon') await this.operations.abandon(op, id);
    else await this.operations.skipStep(op, id);
    await this.tasks.record(op, {
      taskId: id,
      verb,
      step,
      reason: action.reason ?? null,
      by: access.principal,
      requestId: action.requestId,
    });
    this.log.warn(
      { taskId: id, requestId: action.requestId, verb, step, by: access.principal.id, reason: action.reason },
      'operator acted on a stuck task',
    );
    return this.detail(op, access, await this.visible(op, access, id));
  }

  /** For the hourly job. */
  prune(): Promise<void> {
    return this.tasks.pruneAudit(this.database.op);
  }

  private sees(access: Access, projectId: string | null): boolean {
    return access.projects === 'all' || (projectId !== null && access.projects.includes(projectId));
  }

  private async visible(op: Op, access: Access, id: string): Promise<TaskDetailRow> {
    const task = await this.tasks.byId(op, id);
    if (!task) throw notFound('task', id);
    access.assert(task.projectId, 'task', id);
    return task;
  }

  private async presentAll(op: Op, access: Access, rows: readonly TaskRow[]): Promise<Task[]> {
    const steps = new Map<string, TaskStepRow[]>();
    for (const step of await this.tasks.steps(
      op,
      rows.filter((row) => row.error !== null).map((row) => row.id),
    ))
      steps.set(step.taskId, [...(steps.get(step.taskId) ?? []), step]);
    const hosts = await this.hostNames(op, rows, [...steps.values()].flat());
    const now = new Date();
    return rows.map((row) => presentTask(row, steps.get(row.id) ?? [], this.viewer(access, row, hosts), now));
  }

  private async detail(op: Op, access: Access, task: TaskDetailRow): Promise<TaskDetail> {
    const steps = await this.tasks.steps(op, [task.id]);
    const viewer = this.viewer(access, task, await this.hostNames(op, [task], steps));
    const slots = task.waitingFor === null ? 0 : await this.tasks.slots(op, task.waitingFor);
    const holder = task.awaitedLock === null ? undefined : await this.tasks.holder(op, task.awaitedLock);
    const parent = task.parentId === null ? undefined : await this.tasks.byId(op, task.parentId);
    const children = task.children > 0 ? await this.tasks.children(op, task.id) : [];
    return {
      ...presentTask(task, steps, viewer, task.now),
      waiting: presentWaiting(task, steps, viewer, { holder, slots }),
      cancel: task.cancelRequestedAt && {
        requestedAt: task.cancelRequestedAt.toISOString(),
        reason: task.cancelReason,
      },
      irrevocable: presentIrrevocable(task, this.operations.goesForward(task.type, task.version)),
      steps: presentSteps(task, steps, viewer),
      audit: task.audited ? presentAudit(await this.tasks.audit(op, task.id), viewer, access.principal.id) : [],
      parent: parent && this.sees(access, parent.projectId) ? presentRelated(parent, viewer) : null,
      childTasks: children
        .filter((child) => this.sees(access, child.projectId))
        .map((child) => presentRelated(child, viewer)),
    };
  }

  private viewer(access: Access, task: Pick<TaskRow, 'type' | 'version'>, hosts: ReadonlyMap<string, string>): Viewer {
    return {
      hosts,
      operator: this.operates(access),
      hints: this.hints,
      outline: this.operations.outline(task.type, task.version),
    };
  }

  private hostNames(op: Op, tasks: readonly TaskRow[], steps: readonly TaskStepRow[]): Promise<Map<string, string>> {
    const limits = tasks.flatMap((row) =>
      'waitingFor' in row && typeof row.waitingFor === 'string' && row.waitingFor.startsWith('host/')
        ? [row.waitingFor.slice(5)]
        : [],
    );
    const distinct = [
      ...new Set([
        ...limits,
        ...tasks.flatMap((row) => row.error?.host ?? []),
        ...steps.flatMap((row) => row.hostId ?? []),
      ]),
    ];
    return distinct.length === 0 ? Promise.resolve(new Map()) : this.hosts.names(op, distinct);
  }

  /** 403 for who may not know which hosts there are. */
  private async hostId(op: Op, access: Access, ref: string): Promise<string> {
    if (!this.operates(access)) throw forbidden('host:read');
    if (looksLikeId(ref)) return ref.toLowerCase();
    const host = (await this.hosts.all(op)).find((one) => one.name === ref);
    if (!host) throw unprocessable('query.host', 'unknown_host', `There is no host "${ref.slice(0, 100)}".`);
    return host.id;
  }

  private async types(op: Op, wanted: readonly string[]): Promise<string[]> {
    const exact = wanted.filter((type) => !type.endsWith('.'));
    const prefixes = wanted.filter((type) => type.endsWith('.'));
    return prefixes.length === 0 ? exact : [...new Set([...exact, ...(await this.lists.typesWith(op, prefixes))])];
  }

  private operates(access: Access): boolean {
    return seesHosts(access.principal);
  }
}
