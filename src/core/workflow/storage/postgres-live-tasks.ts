import { injectable } from 'inversify';
import { Database } from '../../db/database';
import { LiveTasks } from '../../m2m/reports/live-tasks';

/** Which tasks may still ask a node for an outcome. */
@injectable()
export class PostgresLiveTasks extends LiveTasks {
  constructor(private readonly database: Database) {
    super();
  }

  /** A stuck one is not over: an operator may have it go on. */
  override async live(tasks: readonly string[]): Promise<Record<string, number>> {
    const ids = tasks.filter((task) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(task));
    if (ids.length === 0) return {};
    const rows = await this.database.query<{ id: string; fence: string }>(
      `SELECT id, fence FROM task WHERE id = ANY($1::uuid[]) AND state IN ('queued', 'running', 'compensating', 'stuck')`,
      [ids],
    );
    return Object.fromEntries(rows.map((row) => [row.id, Number(row.fence)]));
  }
}
