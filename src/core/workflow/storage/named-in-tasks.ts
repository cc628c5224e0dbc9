import { injectable } from 'inversify';
import type { Op } from '../../db/rows/op';

/** What tasks are about beside what has rows: things that a task makes may lie on a host before anything else names them. */
@injectable()
export class NamedInTasks {
  /** All ids in the inputs of tasks that are not over. @param but not of those of this type */
  async ids(op: Op, but: string): Promise<string[]> {
    const rows = await op.query<{ id: string }>(
      `SELECT DISTINCT named.id[1] AS id FROM task t,
         regexp_matches(t.input::text, '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'g') AS named(id)
       WHERE t.state IN ('queued', 'running', 'compensating', 'stuck') AND t.type <> $1`,
      [but],
    );
    return rows.map(({ id }) => id);
  }
}
