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

const longestWaitMs = 60_000;
/** `?wait=30s`: holds the answer until the task has settled or the time is over. Milliseconds once parsed; at most one minute. */
export const taskQuery = z.strictObject({
  wait: z
    .string()
    .regex(/^\d{1,5}(ms|s|m)$/, { error: 'write e.g. 500ms or 30s' })
    .transform((text) => Number.parseInt(text, 10) * (text.endsWith('ms') ? 1 : text.endsWith('m') ? 60_000 : 1_000))
    .refine((ms) => ms <= longestWaitMs, { error: 'at most 60s', params: { code: 'too_long' } })
    .default(0),
});

export type TaskListQuery = z.output<typeof taskListQuery>;
export type Task = z.infer<typeof task>;
export type TaskStep = z.infer<typeof taskStep>;
export type TaskDetail = z.infer<typeof taskDetail>;
