import { injectable } from 'inversify';
import type { Op } from '../../../core/db/rows/op';
import { plannedForValues } from '../../../core/db/preparing-client';
import { searchCondition } from '../../../core/db/rows/search';
import { finalStates, taskStates, type TaskState } from '../../../core/workflow/definition/task-state';
import { createdKey, listColumns, type TaskRow } from './task.row';

export interface TaskFilter {
  /** Null projects are only seen by `all`. */
  projects: 'all' | readonly string[];
  /** None: any. */
  states?: readonly TaskState[] | undefined;
  /** Exact types; none: any. */
  types?: readonly string[] | undefined;
  subjectId?: string | undefined;
  subjectName?: string | undefined;
  subjectKind?: string | undefined;
  hostId?: string | undefined;
  parentId?: string | undefined;
  /** Part of the subject's name, or the beginning of its id or the task's. */
  q?: string | undefined;
  /** ISO times: from `after` on, and before `before`. */
  createdAfter?: string | undefined;
  createdBefore?: string | undefined;
  endedAfter?: string | undefined;
  endedBefore?: string | undefined;
  errors?: boolean | undefined;
  /** Leaves out what the system started by itself. */
  withoutSystem?: boolean | undefined;
  after?: { created: string; id: string } | undefined;
  limit: number;
}

const liveStates = taskStates.filter((state) => !finalStates.includes(state));
/** Constants of this program, written out so that they match the predicates of partial indices. */
const stateList = (states: readonly TaskState[]): string => states.map((state) => `'${state}'`).join(', ');

class Params {
  readonly values: unknown[] = [];
  add(value: unknown, cast: string): string {
    this.values.push(value);
    return `$${this.values.length}::${cast}`;
  }
}

/** A filter of which one of several values must hold. */
interface Choice {
  column: string;
  cast: string;
  values: readonly string[];
}

/** The columns that carry the order of lists: a join has them in the table that it begins with. */
interface Key {
  created: string;
  id: string;
}
const ownKey: Key = { created: 't.created_at', id: 't.id' };
const hostKey: Key = { created: 'h.created_at', id: 'h.task_id' };

const conditions = (filter: TaskFilter, key: Key, params: Params): string[] => {
  const found: string[] = [];
  const equal = (column: string, value: string | undefined, cast: string): void => {
    if (value !== undefined) found.push(`${column} = ${params.add(value, cast)}`);
  };
  const time = (column: string, operator: string, value: string | undefined): void => {
    if (value !== undefined) found.push(`${column} ${operator} ${params.add(value, 'timestamptz')}`);
  };
  equal('t.subject_id', filter.subjectId, 'uuid');
  equal('t.subject_name', filter.subjectName, 'text');
  equal('t.subject_kind', filter.subjectKind, 'text');
  equal('t.parent_id', filter.parentId, 'uuid');
  if (filter.q !== undefined)
    found.push(
      searchCondition(filter.q, { ids: [key.id, 't.subject_id'], texts: ['t.subject_name'] }, (value) =>
        params.add(value, 'text'),
      ),
    );
  time(key.created, '>=', filter.createdAfter);
  time(key.created, '<', filter.createdBefore);
  time('t.ended_at', '>=', filter.endedAfter);
  time('t.ended_at', '<', filter.endedBefore);
  // What ended before a time was made before it: so a list in the order of making can start there.
  if (filter.createdBefore === undefined) time(key.created, '<', filter.endedBefore);
  if (filter.withoutSystem === true) found.push(`t.created_by <> 'system'`);
  if (filter.after)
    found.push(
      `(${key.created}, ${key.id}) < (${params.add(filter.after.created, 'timestamptz')}, ${params.add(filter.after.id, 'uuid')})`,
    );
  return found;
};

/** What the branches of one statement share. */
interface Page {
  where: (key: Key) => string[];
  /** The choice of which each value is read by itself. */
  split: Choice | undefined;
  params: Params;
  limit: string;
}

const all = (where: readonly string[]): string => where.map((condition) => `(${condition})`).join(' AND ') || 'true';

/** Up to so many values the planner is told each, and so knows which are rare. */
const toldApart = 24;

/**
 * Rows of one table, newest first. Of a choice between several values each is read by itself in the order of the index,
 * at most a page of it: the planner would otherwise sort all that match, or read past all that do not.
 */
const branch = (table: string, where: readonly string[], { split, params, limit }: Page): string => {
  const select = (more: readonly string[]): string =>
    `SELECT ${listColumns} FROM ${table} t WHERE ${all([...where, ...more])} ORDER BY t.created_at DESC, t.id DESC LIMIT ${limit}`;
  if (!split) return select([]);
  if (split.values.length <= toldApart)
    return split.values
      .map((value) => `(${select([`${split.column} = ${params.add(value, split.cast)}`])})`)
      .join(' UNION ALL ');
  return `SELECT b.* FROM unnest(${params.add(split.values, `${split.cast}[]`)}) v(x) CROSS JOIN LATERAL (${select([`${split.column} = v.x`])}) b`;
};

/** Of the engine's own table. It is small: what has ended leaves it soon. */
const present = (filter: TaskFilter, page: Page): string | undefined => {
  const where = page.where(ownKey);
  if (filter.states !== undefined) {
    if (filter.states.length === 0) return undefined;
    const allLive =
      filter.states.length === liveStates.length && liveStates.every((state) => filter.states?.includes(state));
    where.push(`t.state IN (${stateList(allLive ? liveStates : filter.states)})`);
  }
  if (filter.errors === true) where.push(`t.error IS NOT NULL AND t.error->>'code' IS DISTINCT FROM 'cancelled'`);
  if (filter.hostId !== undefined)
    where.push(
      `t.id IN (SELECT s.task_id FROM task_step s WHERE s.host_id = ${page.params.add(filter.hostId, 'uuid')})`,
    );
  return branch('task', where, page);
};

const archived = (filter: TaskFilter, page: Page): string | undefined => {
  const possible = filter.errors === true ? (['failed'] as const) : finalStates;
  const states = filter.states === undefined ? possible : possible.filter((state) => filter.states?.includes(state));
  if (states.length === 0) return undefined;
  const narrowed = states.length === finalStates.length ? [] : [`t.state IN (${stateList(states)})`];
  if (filter.hostId === undefined) return branch('task_archive', [...page.where(ownKey), ...narrowed], page);
  const where = [`h.host_id = ${page.params.add(filter.hostId, 'uuid')}`, ...page.where(hostKey), ...narrowed];
  return `SELECT ${listColumns} FROM task_archive_host h JOIN task_archive t ON t.id = h.task_id WHERE ${all(where)} ORDER BY h.created_at DESC, h.task_id DESC LIMIT ${page.limit}`;
};

/** Finds tasks in the engine's table and its archive. */
@injectable()
export class TaskListRepository {
  /** Newest first, `limit` rows after `after`. */
  async page(op: Op, filter: TaskFilter): Promise<TaskRow[]> {
    const statement = this.statement(filter);
    return statement ? op.query<TaskRow>(statement.sql, statement.params) : [];
  }

  /** The statement of a page; undefined when nothing can match. */
  statement(filter: TaskFilter): { sql: string; params: unknown[] } | undefined {
    const params = new Params();
    const limit = params.add(filter.limit, 'int');
    const choices: Choice[] = [];
    if (filter.projects !== 'all') choices.push({ column: 't.project_id', cast: 'uuid', values: filter.projects });
    if (filter.types !== undefined) choices.push({ column: 't.type', cast: 'text', values: filter.types });
    if (choices.some((choice) => choice.values.length === 0)) return undefined;
    const narrow =
      [filter.subjectId, filter.subjectName, filter.hostId, filter.parentId, filter.q].some(
        (value) => value !== undefined,
      ) || filter.errors === true;
    const split = narrow ? undefined : choices.find((choice) => choice.values.length > 1);
    const where = (key: Key): string[] => [
      ...conditions(filter, key, params),
      ...choices
        .filter((choice) => choice !== split)
        .map(({ column, cast, values }) =>
          values.length === 1
            ? `${column} = ${params.add(values[0], cast)}`
            : `${column} = ANY(${params.add(values, `${cast}[]`)})`,
        ),
    ];
    const page: Page = { where, split, params, limit };
    const branches = [present(filter, page), archived(filter, page)].filter((sql) => sql !== undefined);
    if (branches.length === 0) return undefined;
    // A search by an id is a short way, by what most names have a long one: the plan for any value takes the latter.
    const plan = filter.q === undefined ? '' : plannedForValues;
    const sql = `${plan}SELECT p.*, ${createdKey('p."createdAt"')} FROM (${branches.map((one) => `(${one})`).join(' UNION ALL ')}) p ORDER BY p."createdAt" DESC, p.id DESC LIMIT ${limit}`;
    return { sql, params: params.values };
  }

  /**
   * The types of stored tasks that begin with one of the prefixes. One probe of the index for each type that there is.
   */
  async typesWith(op: Op, prefixes: readonly string[]): Promise<string[]> {
    const distinct = (table: string): string => `
      (WITH RECURSIVE found AS (
        (SELECT type FROM ${table} ORDER BY type LIMIT 1)
        UNION ALL SELECT (SELECT t.type FROM ${table} t WHERE t.type > found.type ORDER BY t.type LIMIT 1) FROM found WHERE found.type IS NOT NULL)
       SELECT type FROM found WHERE type IS NOT NULL)`;
    const rows = await op.query<{ type: string }>(
      `SELECT DISTINCT type FROM (${distinct('task')} UNION ALL ${distinct('task_archive')}) every WHERE EXISTS (SELECT 1 FROM unnest($1::text[]) p(x) WHERE starts_with(type, p.x))`,
      [prefixes],
    );
    return rows.map((row) => row.type);
  }
}
