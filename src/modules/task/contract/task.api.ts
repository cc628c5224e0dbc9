import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { pageQuery } from '../../../core/http/routes/pagination';
import { taskStates, type TaskState } from '../../../core/workflow/definition/task-state';

const stepStates = ['pending', 'running', 'succeeded', 'failed', 'skipped'] as const;

const taskStep = z
  .object({
    name: z.string(),
    title: z.string(),
    phase: z.enum(['run', 'undo']),
    state: z.enum(stepStates),
    attempt: z.number().int(),
    host: z.object({ id: field.id, name: z.string() }).nullable(),
    /** 0 to 100; null when the host has reported none. */
    progress: z.number().min(0).max(100).nullable(),
    /** What the host says it is at. */
    message: z.string().nullable(),
    startedAt: field.timestamp.nullable(),
    endedAt: field.timestamp.nullable(),
    /** Over all attempts, pauses included; until now while it runs. */
    durationMs: z.number().int().nonnegative().nullable(),
    /** When a failed attempt is repeated; null while one is under way. */
    nextTryAt: field.timestamp.nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: 'TaskStep' });

const errorStep = z.object({
  name: z.string(),
  title: z.string(),
  host: z.string().nullable(),
  reason: z.string().nullable(),
});

const taskError = z.object({
  /** Stable, snake_case. */
  code: z.string(),
  /** The whole story: which step failed where and why, what was undone and what was not, what to do next. */
  message: z.string(),
  /** The root cause alone. */
  reason: z.string(),
  step: z.string().nullable(),
  stepTitle: z.string().nullable(),
  /** Name of the host on which the step failed. */
  host: z.string().nullable(),
  attempts: z.number().int().nonnegative(),
  /** True when nothing is left behind. */
  undone: z.boolean(),
  /** In the order of undoing. */
  undoneSteps: z.array(errorStep),
  /** What it did and could not, or did not yet, undo. */
  leftSteps: z.array(errorStep),
  hint: z.string().nullable(),
  requestId: z.string().nullable(),
});

const subject = z.object({ kind: z.string(), id: field.id, name: z.string() });

export const task = z
  .object({
    id: field.id,
    type: z.string(),
    state: z.enum(taskStates),
    projectId: field.id.nullable(),
    subject,
    /** 0 to 100 over all steps. */
    progress: z.number(),
    /** The step it is at or ended at. */
    step: z.string().nullable(),
    stepTitle: z.string().nullable(),
    error: taskError.nullable(),
    createdBy: z.string(),
    requestId: z.string().nullable(),
    parentId: field.id.nullable(),
    /** How many tasks it has started itself. */
    children: z.number().int().nonnegative(),
    createdAt: field.timestamp,
    startedAt: field.timestamp.nullable(),
    endedAt: field.timestamp.nullable(),
    /** From its first step to its end, or until now; null before its first step. */
    durationMs: z.number().int().nonnegative().nullable(),
  })
  .meta({ id: 'Task' });

const relatedTask = z.object({
  id: field.id,
  type: z.string(),
  state: z.enum(taskStates),
  progress: z.number(),
  subject,
  step: z.string().nullable(),
  error: z.string().nullable(),
});

const operatorVerbs = ['retry', 'skip-step', 'abandon'] as const;
const auditVerbs = ['cancel', ...operatorVerbs] as const;
const taskAudit = z.object({
  at: field.timestamp,
  verb: z.enum(auditVerbs),
  /** The step that the verb was about. */
  step: z.string().nullable(),
  reason: z.string().nullable(),
  /** Null where the viewer may not know who it was. */
  by: z.object({ id: z.string(), name: z.string() }).nullable(),
  requestId: z.string(),
});

export const taskDetail = task
  .extend({
    /** What it waits for, in words; null when it does not wait. */
    waiting: z
      .object({
        kind: z.enum(['retry', 'host', 'condition', 'lock', 'limit', 'children', 'worker']),
        /** When it looks again by itself; null when something else must happen first. */
        until: field.timestamp.nullable(),
        text: z.string(),
      })
      .nullable(),
    cancel: z.object({ requestedAt: field.timestamp, reason: z.string().nullable() }).nullable(),
    /** Why it can't be cancelled any more; null when it can, or is over. */
    irrevocable: z.string().nullable(),
    steps: z.array(taskStep),
    audit: z.array(taskAudit),
    parent: relatedTask.nullable(),
    /** The first hundred, oldest first. */
    childTasks: z.array(relatedTask),
  })
  .meta({ id: 'TaskDetail' });

/** `a,b` or the parameter repeated. Each value must pass `check`; at most `most`. */
const several = <T extends string>(check: (value: string) => value is T, complaint: string, most: number) =>
  z
    .union([z.string().max(4000), z.array(z.string().max(500)).max(100)], {
      error: 'one value, or several with commas between them',
    })
    .transform((given, ctx): T[] => {
      const values = [
        ...new Set(
          (Array.isArray(given) ? given : [given]).flatMap((text) => text.split(',')).map((text) => text.trim()),
        ),
      ];
      const wrong = values.find((value) => !check(value));
      if (wrong !== undefined)
        ctx.addIssue({
          code: 'custom',
          message: `"${wrong.slice(0, 50)}" is not ${complaint}`,
          params: { code: 'invalid_value' },
        });
      if (values.length > most)
        ctx.addIssue({ code: 'custom', message: `at most ${most} values`, params: { code: 'too_long' } });
      return values.filter(check);
    });

export type StateFilter = TaskState | 'live';
const stateFilters: readonly string[] = [...taskStates, 'live'];

/** RFC 3339 with any offset, in the years 1970 to 9999; UTC once parsed. */
const time = z.iso
  .datetime({ offset: true, error: 'write a time as RFC 3339, e.g. 2026-01-31T12:00:00Z' })
  .refine((text) => !Number.isNaN(Date.parse(text)) && Date.parse(text) >= 0, {
    error: 'not before 1970',
    params: { code: 'too_small' },
  })
  .transform((text) => new Date(text).toISOString());
const flag = z.enum(['true', 'false'], { error: 'true or false' }).transform((text) => text === 'true');

export const taskListQuery = pageQuery.extend({
  /** States, or `live` for all that are not over. */
  state: several(
    (value): value is StateFilter => stateFilters.includes(value),
    `a state; there are ${stateFilters.join(', ')}`,
    8,
  ).optional(),
  /** Types, or prefixes that end with a dot: `compute.`. */
  type: several(
    (value): value is string => /^[a-z][a-z0-9-]{0,62}(\.[a-z0-9-]{1,63}){0,3}\.?$/.test(value),
    'a type such as instance.create, or a prefix such as instance.',
    20,
  ).optional(),
  /** Id or exact name of the object that the task is about. */
  subject: field.ref.optional(),
  subjectKind: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,62}$/, { error: 'a noun such as instance' })
    .optional(),
  /** Id or name of a host: tasks with a step there. */
  host: field.ref.optional(),
  parent: field.id.optional(),
  /** From this time on. */
  createdAfter: time.optional(),
  /** Before this time. */
  createdBefore: time.optional(),
  endedAfter: time.optional(),
  endedBefore: time.optional(),
  /** `true`: those that failed, or are being undone after a failure, or are stuck. */
  errors: flag.optional(),
  /** `false`: without what the system does by itself. */
  system: flag.optional(),
});

const longestWaitMs = 60_000;
/**
 * `?wait=30s`: holds the answer until the task has settled or the time is over. Milliseconds once parsed; at most one
 * minute.
 */
export const taskQuery = z.strictObject({
  wait: z
    .string()
    .regex(/^\d{1,5}(ms|s|m)$/, { error: 'write e.g. 500ms or 30s' })
    .default('0s')
    .transform((text) => Number.parseInt(text, 10) * (text.endsWith('ms') ? 1 : text.endsWith('m') ? 60_000 : 1_000))
    .refine((ms) => ms <= longestWaitMs, { error: 'at most 60s', params: { code: 'too_long' } }),
});

/** Body of the verbs; may be left out. */
export const taskAction = z.strictObject({ reason: field.description.optional() }).default({});

export type TaskListQuery = z.output<typeof taskListQuery>;
export type OperatorVerb = (typeof operatorVerbs)[number];
export type AuditVerb = (typeof auditVerbs)[number];
export type Task = z.infer<typeof task>;
export type TaskError = z.infer<typeof taskError>;
export type TaskStep = z.infer<typeof taskStep>;
export type TaskAudit = z.infer<typeof taskAudit>;
export type RelatedTask = z.infer<typeof relatedTask>;
export type TaskDetail = z.infer<typeof taskDetail>;
