import type { PoolClient } from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import { injectable } from 'inversify';
import { NotificationListener, type NotificationHandler } from './listener';
import type { Op } from './op';

class TransactionOp implements Op {
  readonly inTransaction = true;
  private readonly hooks: (() => void)[] = [];

  constructor(readonly manager: EntityManager) {}

  afterCommit(fn: () => void): void {
    this.hooks.push(fn);
  }

  committed(): void {
    for (const hook of this.hooks) hook();
  }
}

/** The one way to PostgreSQL. Wraps TypeORM's data source; nested `tx` calls join the outer transaction. */
@injectable()
export class Database {
  /** Statements outside any transaction. */
  readonly op: Op;
  private listener: NotificationListener | undefined;

  constructor(readonly dataSource: DataSource) {
    this.op = { manager: dataSource.manager, inTransaction: false, afterCommit: (fn) => fn() };
  }

  /** Connections of this process at most. */
  get poolSize(): number {
    const { options } = this.dataSource;
    return (options.type === 'postgres' ? options.poolSize : undefined) ?? 10;
  }

  /**
   * Runs `fn` in one READ COMMITTED transaction and commits when it resolves.
   * @param within an operation whose transaction is joined instead of opening a new one
   */
  async tx<T>(fn: (op: Op) => Promise<T>, within?: Op): Promise<T> {
    if (within?.inTransaction) return fn(within);
    let opened: TransactionOp | undefined;
    const result = await this.dataSource.transaction(async (manager) => {
      opened = new TransactionOp(manager);
      return fn(opened);
    });
    opened?.committed();
    return result;
  }

  /** One parametrised statement. Rows as plain objects with the column names as selected. */
  async query<R extends object>(sql: string, params: unknown[] = [], op: Op = this.op): Promise<R[]> {
    return op.manager.query(sql, params);
  }

  /**
   * Like `query`, but prepared under `name` once per connection and then only bound: for the few statements that run all the time.
   * One name stands for one text.
   */
  async prepared<R extends object>(name: string, sql: string, params: unknown[], op: Op = this.op): Promise<R[]> {
    const joined = op.manager.queryRunner;
    const runner = joined ?? this.dataSource.createQueryRunner();
    try {
      const client = (await runner.connect()) as PoolClient;
      return (await client.query<R & Record<string, unknown>>({ name, text: sql, values: params })).rows;
    } finally {
      if (!joined) await runner.release();
    }
  }

  /**
   * Subscribes to a NOTIFY channel over one dedicated connection that all subscriptions of this process share.
   * The handler gets null after a lost connection was remade: anything may have been missed. Returns the way to unsubscribe.
   */
  async listen(channel: string, handler: NotificationHandler): Promise<() => Promise<void>> {
    const { options } = this.dataSource;
    if (options.type !== 'postgres' || options.url === undefined) throw new Error('LISTEN needs a PostgreSQL data source with a URL');
    this.listener ??= new NotificationListener(options.url, options.applicationName ?? 'vc-stack');
    return this.listener.listen(channel, handler);
  }

  /** Ends the listening connection and the pool. */
  async close(): Promise<void> {
    await this.listener?.close();
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}
