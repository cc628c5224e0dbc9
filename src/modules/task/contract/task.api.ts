import { z } from 'zod';
import * as field from '../../../core/http/fields';
import { pageQuery } from '../../../core/http/pagination';
import { taskStates } from '../../../core/workflow/workflows';

export const taskStep = z.object({
  name: z.string(),
  title: z.string(),
  phase: z.enum(['run', 'undo']),
  state: z.enum(['pending', 'running', 'succeeded', 'failed', 'skipped']),
  attempt: z.number().int(),
  host: z.object({ id: field.id, name: z.string() }).nullable(),
  progress: z.number().min(0).max(100).nullable(),
  startedAt: field.timestamp.nullable(),
  endedAt: field.timestamp.nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});

export const task = z.object({
  id: field.id,
  type: z.string(),
  state: z.enum(taskStates),
  projectId: field.id.nullable(),
  subject: z.object({ kind: z.string(), id: field.id, name: z.string() }),
  /** 0 to 100 over all steps. */
  progress: z.number(),
  /** The step it is at or ended at. */
  step: z.string().nullable(),
  error: z.object({ code: z.string(), message: z.string(), step: z.string().nullable(), host: z.string().nullable(), undone: z.boolean(), hint: z.string().nullable() }).nullable(),
  createdBy: z.string(),
  requestId: z.string().nullable(),
  createdAt: field.timestamp,
  startedAt: field.timestamp.nullable(),
  endedAt: field.timestamp.nullable(),
});
export const taskDetail = task.extend({ steps: z.array(taskStep) });
export const taskListQuery = pageQuery.extend({
  state: z.enum([...taskStates, 'live']).optional(),
  type: z.string().max(100).optional(),
  subject: field.id.optional(),
});

export type Task = z.infer<typeof task>;
export type TaskStep = z.infer<typeof taskStep>;
export type TaskDetail = z.infer<typeof taskDetail>;
