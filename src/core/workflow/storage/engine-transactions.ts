import { injectable } from 'inversify';
import { Database } from '../../db/database';
import type { Op } from '../../db/op';
import { Gate } from './gate';

/** The part of the pool's connections that the engine may use at a time; the rest is for requests. */
const shareOfPool = 0.6;

/** The engine's way to the database: no more at a time than leaves room for others. */
@injectable()
export class EngineTransactions {
  private readonly gate: Gate;

  constructor(private readonly database: Database) {
    this.gate = new Gate(Math.max(2, Math.floor(database.poolSize * shareOfPool)));
  }

  /** Outside of a transaction. */
  get op(): Op {
    return this.database.op;
  }

  /** `fn` in a transaction of its own. */
  run<T>(fn: (op: Op) => Promise<T>): Promise<T> {
    return this.gate.run(() => this.database.tx(fn));
  }

  /** Single statements, each its own commit. */
  alone<T>(fn: (op: Op) => Promise<T>): Promise<T> {
    return this.gate.run(() => fn(this.database.op));
  }
}
