import { injectable } from 'inversify';
import { Database } from '../db/database';

export interface CountedAttempt {
  name: string;
  count: number;
  /** Until the window ends, in milliseconds. */
  leftMs: number;
}

/**
 * Login attempts by what they are counted under, in windows on the database's clock. The table is unlogged: a crash
 * forgets it.
 */
@injectable()
export class LoginAttemptRepository {
  constructor(private readonly database: Database) {}

  /**
   * Counts one attempt under each of the names. Rows are locked in the order of their names, so that attempts at once
   * do not wait in a circle.
   */
  count(names: readonly string[], windowMs: number): Promise<CountedAttempt[]> {
    return this.database.query<CountedAttempt>(
      `INSERT INTO login_attempt AS a (name, count, until)
       SELECT n, 1, clock_timestamp() + $2::float8 * interval '1 millisecond' FROM unnest($1::text[]) n ORDER BY n
       ON CONFLICT (name) DO UPDATE
          SET count = CASE WHEN a.until <= clock_timestamp() THEN 1 ELSE a.count + 1 END,
              until = CASE WHEN a.until <= clock_timestamp() THEN excluded.until ELSE a.until END
       RETURNING name, count, (extract(epoch FROM until - clock_timestamp()) * 1000)::float8 AS "leftMs"`,
      [names, windowMs],
    );
  }

  async forget(name: string): Promise<void> {
    await this.database.query('DELETE FROM login_attempt WHERE name = $1', [name]);
  }

  /** Windows that are over. */
  async prune(): Promise<void> {
    await this.database.query('DELETE FROM login_attempt WHERE until < clock_timestamp()');
  }
}
