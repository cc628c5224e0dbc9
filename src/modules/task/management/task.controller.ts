import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { pageOf } from '../../../core/http/routes/pagination';
import { Controller, route, type Route } from '../../../core/http/routes/route';
import { task, taskAction, taskDetail, taskListQuery, taskQuery, type OperatorVerb } from '../contract/task.api';
import { TaskService } from './task.service';

const tag = 'Tasks';
const params = z.strictObject({ id: field.id });

@injectable()
export class TaskController extends Controller {
  constructor(private readonly tasks: TaskService) {
    super();
  }

  override routes(): Route[] {
    return [
      route(
        {
          method: 'GET',
          path: '/tasks',
          summary: 'List tasks, newest first',
          tag,
          scope: 'collection',
          permission: 'task:read',
          query: taskListQuery,
          response: pageOf(task),
        },
        (req) => this.tasks.list(req.op, req.access, req.project?.id, req.query),
      ),
      route(
        {
          method: 'GET',
          path: '/tasks/:id',
          summary: 'Show a task with its steps, at once or when it has settled',
          tag,
          scope: 'resource',
          permission: 'task:read',
          params,
          query: taskQuery,
          response: taskDetail,
        },
        (req) => this.tasks.get(req.op, req.access, req.params.id, req.query.wait),
      ),
      route(
        {
          method: 'POST',
          path: '/tasks/:id/actions/cancel',
          summary: 'Stop a task at its next boundary and undo it',
          tag,
          scope: 'resource',
          permission: 'task:cancel',
          params,
          body: taskAction,
          status: 202,
          response: taskDetail,
        },
        (req) =>
          this.tasks.cancel(req.op, req.access, req.params.id, { reason: req.body.reason, requestId: req.requestId }),
      ),
      this.operator('retry', 'Undo a stuck task once more'),
      this.operator('skip-step', 'Count the undo that a stuck task is at as done, and go on'),
      this.operator('abandon', 'End a stuck task as failed, not undone'),
    ];
  }

  private operator(verb: OperatorVerb, summary: string): Route {
    return route(
      {
        method: 'POST',
        path: `/tasks/:id/actions/${verb}`,
        summary,
        tag,
        scope: 'global',
        permission: 'task:operate',
        params,
        body: taskAction,
        status: 202,
        response: taskDetail,
      },
      (req) =>
        this.tasks.operate(req.op, req.access, req.params.id, verb, {
          reason: req.body.reason,
          requestId: req.requestId,
        }),
    );
  }
}
