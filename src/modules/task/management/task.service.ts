import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Access } from '../../../core/auth/access';
import type { Op } from '../../../core/db/op';
import { conflict, notFound } from '../../../core/errors/problem';
import { decodeCursor, pageFrom } from '../../../core/db/cursor';
import type { Page } from '../../../core/http/pagination';
import { Logging } from '../../../core/telemetry/logging';
import { WorkflowEngine } from '../../../core/workflow/workflow-engine';
import { finalStates } from '../../../core/workflow/workflows';
import { Hosts } from '../../host/contract/host.ports';
import type { Task, TaskDetail, TaskListQuery } from '../contract/task.api';
import { presentSteps, presentTask } from './task.presenter';
import { TaskRepository, type TaskRow } from './task.repository';

const cursorKey = z.tuple([z.iso.datetime(), z.uuid()]);
export type OperatorVerb = 'retry' | 'skip-step' | 'abandon';

/** Tasks as users and operators see them. A task without project is seen by system admins only. */
@injectable()
export class TaskService {
  private readonly log: Logger;

  constructor(
    private readonly tasks: TaskRepository,
    private readonly engine: WorkflowEngine,
    private readonly hosts: Hosts,
    logging: Logging,
  ) {
    this.log = logging.for('task');
  }

  /** Newest first. */
  async list(op: Op, access: Access, projectId: string | undefined, query: TaskListQuery): Promise<Page<Task>> {
    const after = decodeCursor(query.cursor, cursorKey);
    const rows = await this.tasks.page(op, {
      projects: projectId === undefined ? access.projects : [projectId],
      state: query.state,
      type: query.type,
      subject: query.subject,
      after: after && { created: after[0], id: after[1] },
      limit: query.limit + 1,
    });
    const { items, next } = pageFrom(rows, query.limit, (row) => [row.createdKey, row.id]);
    const names = await this.hostNames(op, items.flatMap((row) => row.error?.host ?? []));
    return { items: items.map((row) => presentTask(row, names, this.operates(access))), next };
  }

  /** With its steps. Waits up to `waitMs` for it to settle (to end, or to get stuck). */
  async get(op: Op, access: Access, id: string, waitMs: number): Promise<TaskDetail> {
    const first = await this.visible(op, access, id);
    if (waitMs <= 0 || first.state === 'stuck' || finalStates.includes(first.state)) return this.detail(op, access, first);
    await this.engine.settled(id, waitMs);
    return this.detail(op, access, await this.visible(op, access, id));
  }

  /** Asks it to stop at its next boundary and undo. 409 `task_over` when it has ended. */
  async cancel(op: Op, access: Access, id: string, requestId: string): Promise<TaskDetail> {
    const task = await this.visible(op, access, id);
    const asked = await this.engine.cancel(op, id, access.principal.id);
    if (!asked) throw conflict('task_over', `The task has ${task.state === 'succeeded' ? 'succeeded' : 'ended'} already.`, { state: task.state });
    this.log.info({ taskId: id, requestId, type: task.type, by: access.principal.id }, 'cancel requested');
    return this.detail(op, access, await this.visible(op, access, id));
  }

  /** Verbs on stuck tasks; 409 `task_not_stuck` on others. */
  async operate(op: Op, access: Access, id: string, verb: OperatorVerb, requestId: string): Promise<TaskDetail> {
    if (verb === 'retry') await this.engine.retry(op, id);
    else if (verb === 'abandon') await this.engine.abandon(op, id);
    else await this.engine.skipStep(op, id);
    this.log.warn({ taskId: id, requestId, verb, by: access.principal.id }, 'operator acted on a stuck task');
    return this.detail(op, access, await this.visible(op, access, id));
  }

  private async visible(op: Op, access: Access, id: string): Promise<TaskRow> {
    const task = await this.tasks.byId(op, id);
    if (!task || (task.projectId === null && access.projects !== 'all')) throw notFound('task', id);
    if (task.projectId !== null) access.assert(task.projectId, 'task', id);
    return task;
  }

  private async detail(op: Op, access: Access, task: TaskRow): Promise<TaskDetail> {
    const rows = await this.tasks.steps(op, task.id);
    const names = await this.hostNames(op, [...rows.flatMap((row) => row.hostId ?? []), ...(task.error?.host ? [task.error.host] : [])]);
    const operator = this.operates(access);
    return { ...presentTask(task, names, operator), steps: presentSteps(this.engine.outline(task.type, task.version), rows, names, operator) };
  }

  private hostNames(op: Op, ids: string[]): Promise<Map<string, string>> {
    const distinct = [...new Set(ids)];
    return distinct.length === 0 ? Promise.resolve(new Map()) : this.hosts.names(op, distinct);
  }

  private operates(access: Access): boolean {
    return access.principal.systemRoles.includes('admin');
  }
}
