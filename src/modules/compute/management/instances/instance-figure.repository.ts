import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';

export interface InstanceFigure {
  state: string;
  instances: number;
  /** When they were counted, on the database's clock. Seconds since 1970. */
  countedAt: number;
}

/** The last count of all instances, a row per state. */
@injectable()
export class InstanceFigureRepository {
  all(op: Op): Promise<InstanceFigure[]> {
    return op.query(
      'SELECT state, instances, extract(epoch FROM counted_at)::float8 AS "countedAt" FROM instance_figure ORDER BY state',
    );
  }

  /** Counts anew. A state that was seen before and has no instance now has none of them; there is always one row. */
  async count(op: Op): Promise<void> {
    await op.query(
      `INSERT INTO instance_figure (state, instances, counted_at)
       SELECT state, coalesce(now_there.n, 0), statement_timestamp()
         FROM (SELECT state FROM instance_figure UNION SELECT 'running') AS known
         FULL JOIN (SELECT state, count(*)::int AS n FROM instance GROUP BY state) AS now_there USING (state)
       ON CONFLICT (state) DO UPDATE SET instances = EXCLUDED.instances, counted_at = EXCLUDED.counted_at`,
    );
  }
}
