import pLimit, { type LimitFunction } from 'p-limit';
import { injectable } from 'inversify';
import { Database } from '../../db/database';
import type { Op } from '../../db/rows/op';

/** The part of the pool's connections that the engine may use at a time; the rest is for requests. */
const shareOfPool = 0.6;

/** The engine's way to the database: no more at a time than leaves room for others. */
@injectable()
export class EngineTransactions {
  private readonly limit: LimitFunction;

  constructor(private readonly database: Database) {
    this.limit = pLimit(Math.max(2, Math.floor(database.poolSize * shareOfPool)));
  }

  /** Outside of a transaction. */
  get op(): Op {
    return this.database.op;
  }

  /** `fn` in a transaction of its own. */
  run<T>(fn: (op: Op) => Promise<T>): Promise<T> {
    return this.limit(() => this.database.tx(fn));
  }

  /** Single statements, each its own commit. */
  alone<T>(fn: (op: Op) => Promise<T>): Promise<T> {
    return this.limit(() => fn(this.database.op));
  }
}
