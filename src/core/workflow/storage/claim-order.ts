const isDue = `wake_at <= now() AND (lease_until IS NULL OR lease_until <= now()) AND type || '@' || version = ANY($2::text[])`;

/**
 * CTE of those who have waited longest. Enough as long as it takes all that are due. $2: `type@version`s, $3: how many.
 */
export const longestWaiting = `due AS MATERIALIZED (SELECT id FROM task WHERE ${isDue} ORDER BY wake_at LIMIT $3 FOR UPDATE SKIP LOCKED)`;

const projectOf = `COALESCE(task.project_id, '00000000-0000-0000-0000-000000000000')`;

const isNew = `state = 'queued' AND waiting_for IS NULL AND wake_at IS NOT NULL`;

/**
 * CTE by priority, and of the same priority from each project in turn, those that have fewer tasks at work here ($5:
 * counts by project) first. Steps from project to project along the index of new tasks, so that a project's ten
 * thousand cost no more than its first few. Of those that have begun and are due again the longest waiting ones take
 * part; those asleep are never looked at.
 */
export const inFairOrder = `
  project AS (
    (SELECT ${projectOf} AS key FROM task WHERE ${isNew} ORDER BY 1 LIMIT 1)
    UNION ALL
    SELECT (SELECT ${projectOf} FROM task WHERE ${isNew} AND ${projectOf} > project.key ORDER BY 1 LIMIT 1) FROM project WHERE project.key IS NOT NULL),
  head AS (
    SELECT first.id, project.key, level.priority, first.wake_at
      FROM project CROSS JOIN (VALUES (0), (1), (2)) level(priority) CROSS JOIN LATERAL (
        SELECT id, wake_at FROM task WHERE ${isNew} AND ${projectOf} = project.key AND task.priority = level.priority AND ${isDue} ORDER BY wake_at LIMIT $3) first
     WHERE project.key IS NOT NULL
    UNION ALL
    (SELECT id, ${projectOf}, priority, wake_at FROM task WHERE state <> 'queued' AND ${isDue} ORDER BY wake_at LIMIT 2 * $3)),
  waiting AS (SELECT *, row_number() OVER (PARTITION BY key, priority ORDER BY wake_at) + COALESCE(($5::jsonb->>(key::text))::int, 0) AS share FROM head),
  picked AS MATERIALIZED (SELECT id, row_number() OVER (ORDER BY priority, share, wake_at) AS rank FROM waiting ORDER BY priority, share, wake_at LIMIT $3),
  due AS MATERIALIZED (SELECT task.id FROM picked JOIN task ON task.id = picked.id WHERE ${isDue} ORDER BY picked.rank FOR UPDATE OF task SKIP LOCKED)`;

/**
 * CTE that takes a free slot under a limit for the task in the CTE `h`. Nothing is written when none is free; two that
 * want the same one may both get nothing.
 */
export const takenSlot = (scope: string, slots: string): string => `taken AS (
  INSERT INTO task_slot (scope, slot, task_id)
  SELECT ${scope}::text, s, h.id FROM h, generate_series(1, ${slots}::int) s WHERE NOT EXISTS (SELECT 1 FROM task_slot x WHERE x.scope = ${scope} AND x.slot = s) ORDER BY random() LIMIT 1
  ON CONFLICT DO NOTHING RETURNING task_id)`;
