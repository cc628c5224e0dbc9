import type { QueryResultRow } from 'pg';
import { QueryFailedError, type DataSource } from 'typeorm';
import { injectable } from 'inversify';
import { Connections, type ConnectionUse } from './connections';
import { poolOf } from './library-internals';
import { Notifier } from './notify/notifier';
import { NotificationListener, type NotificationHandler } from './notify/listener';
import { gatheredQuery, type GatheredStatement, type Op } from './rows/op';
import { TransactionRunner } from './transaction-runner';

/** What a failed statement throws, also without TypeORM's own query method: those who handle it know one kind. */
const failed = (sql: string, params: readonly unknown[], error: unknown): QueryFailedError =>
  new QueryFailedError(sql, [...params], error instanceof Error ? error : new Error(String(error)));

class TransactionOp implements Op {
  readonly inTransaction = true;
  private readonly hooks: (() => void)[] = [];
  private readonly endHooks: (() => void)[] = [];
  private readonly gathered = new Map<GatheredStatement<never>, [never, ...never[]]>();

  constructor(
    readonly metadataOf: Op['metadataOf'],
    private readonly runner: TransactionRunner,
  ) {}

  async query<R extends object>(sql: string, params: readonly unknown[] = []): Promise<R[]> {
    const client = await this.runner.connect().catch((error: unknown) => {
      throw failed(sql, params, error);
    });
    return client.query<R & QueryResultRow>(sql, [...params]).then(
      ({ rows }) => rows,
      (error: unknown) => {
        throw failed(sql, params, error);
      },
    );
  }

  gather<T>(statement: GatheredStatement<T>, item: T): Promise<void> {
    if (this.runner.alone)
      return Promise.reject(
        new Error('this transaction has announced its last statement: nothing can be gathered any more'),
      );
    const items = this.gathered.get(statement as GatheredStatement<never>);
    if (items) items.push(item as never);
    else this.gathered.set(statement as GatheredStatement<never>, [item as never]);
    return Promise.resolve();
  }

  afterCommit(fn: () => void): void {
    this.hooks.push(fn);
  }

  afterEnd(fn: () => void): void {
    this.endHooks.push(fn);
  }

  last(): void {
    if (this.gathered.size === 0) this.runner.standAlone();
  }

  async commit(): Promise<void> {
    const left = [...this.gathered].map(([statement, items]) => gatheredQuery(statement, items));
    await this.runner.commit(left).catch((error: unknown) => {
      throw error instanceof QueryFailedError ? error : failed('COMMIT', [], error);
    });
    this.end();
    for (const hook of this.hooks) hook();
  }

  /** It is over; also without a commit. */
  end(): void {
    for (const hook of this.endHooks.splice(0)) hook();
  }
}

/** The one way to PostgreSQL. Wraps TypeORM's data source; nested `tx` calls join the outer transaction. */
@injectable()
export class Database {
  /** Statements outside any transaction. */
  readonly op: Op;
  /** The same for a request that somebody waits for: it goes before the process's own work. */
  readonly requestOp: Op;
  private readonly connections: Connections;
  private listener: NotificationListener | undefined;
  private readonly notifier = new Notifier((sql, params) => this.query(sql, params));

  constructor(readonly dataSource: DataSource) {
    this.connections = new Connections(() => poolOf(dataSource), this.poolSize);
    this.op = this.opFor('work');
    this.requestOp = this.opFor('request');
  }

  /** Connections of this process at most. */
  get poolSize(): number {
    const { options } = this.dataSource;
    return (options.type === 'postgres' ? options.poolSize : undefined) ?? 10;
  }

  /**
   * Runs `fn` in one READ COMMITTED transaction and commits when it resolves.
   * @param within an operation whose transaction is joined instead of opening a new one; `requestOp` opens one for a
   * request
   */
  async tx<T>(fn: (op: Op) => Promise<T>, within?: Op): Promise<T> {
    if (within?.inTransaction) return fn(within);
    const runner = new TransactionRunner(this.connections, within === this.requestOp ? 'request' : 'work');
    const op = new TransactionOp(this.op.metadataOf, runner);
    try {
      const result = await fn(op);
      await op.commit();
      await runner.release();
      return result;
    } catch (error) {
      await runner.rollback();
      op.end();
      await runner.release();
      throw error;
    }
  }

  /** One parametrised statement. Rows as plain objects with the column names as selected. */
  query<R extends object>(sql: string, params: readonly unknown[] = [], op: Op = this.op): Promise<R[]> {
    return op.query(sql, params);
  }

  /**
   * Subscribes to a NOTIFY channel over one dedicated connection that all subscriptions of this process share. The
   * handler gets null after a lost connection was remade: anything may have been missed. Returns the way to
   * unsubscribe.
   */
  async listen(channel: string, handler: NotificationHandler): Promise<() => Promise<void>> {
    const { options } = this.dataSource;
    if (options.type !== 'postgres' || options.url === undefined)
      throw new Error('LISTEN needs a PostgreSQL data source with a URL');
    this.listener ??= new NotificationListener(options.url, options.applicationName ?? 'vc-stack');
    return this.listener.listen(channel, handler);
  }

  /**
   * Which connection hears notifications: another number after each loss, 0 while there is none and everything may be
   * missed.
   */
  get listening(): number {
    return this.listener?.connection ?? 0;
  }

  /**
   * Soon wakes all who listen to the channel, in this process and others. A hint that may be lost; call it when what it
   * is about has been committed.
   */
  notify(channel: string): void {
    this.notifier.notify(channel);
  }

  /** Ends the listening connection and the pool. */
  async close(): Promise<void> {
    if (this.dataSource.isInitialized) await this.notifier.close();
    await this.listener?.close();
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  private opFor(use: ConnectionUse): Op {
    const query = async <R extends object>(sql: string, params: readonly unknown[] = []): Promise<R[]> => {
      try {
        return await this.connections.rows<R & QueryResultRow>(use, sql, [...params]);
      } catch (error) {
        throw failed(sql, params, error);
      }
    };
    return {
      metadataOf: (entity) => this.dataSource.getMetadata(entity),
      inTransaction: false,
      query,
      gather: async (statement, item) => {
        const { sql, params } = gatheredQuery(statement, [item]);
        await query(sql, params);
      },
      afterCommit: (fn) => fn(),
      afterEnd: (fn) => fn(),
      last: () => undefined,
    };
  }
}
