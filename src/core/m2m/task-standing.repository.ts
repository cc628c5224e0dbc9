import { injectable } from 'inversify';
import { Database } from '../db/database';

/** Which tasks may still ask a node for an outcome. Being over is a committed state, so a node that hears of it may forget. */
@injectable()
export class TaskStandingRepository {
  constructor(private readonly database: Database) {}

  /** Fences of those that are not over (a stuck one is not: an operator may have it go on). Names that are no ids are over. */
  async live(tasks: readonly string[]): Promise<Record<string, number>> {
    const ids = tasks.filter((task) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(task));
    if (ids.length === 0) return {};
    const rows = await this.database.query<{ id: string; fence: string }>(
      `SELECT id, fence FROM task WHERE id = ANY($1::uuid[]) AND state IN ('queued', 'running', 'compensating', 'stuck')`,
      [ids],
    );
    return Object.fromEntries(rows.map((row) => [row.id, Number(row.fence)]));
  }
}
