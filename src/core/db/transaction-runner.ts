import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import type { PreparingClient } from './preparing-client';

/**
 * The connection of one transaction. BEGIN leaves together with the first statement and in the same write, what is
 * gathered together with COMMIT: on a machine that shares its cores with the database, round trips are what a
 * transaction costs. One without a statement takes no connection at all.
 */
export class TransactionRunner extends PostgresQueryRunner {
  private client: PreparingClient | undefined;
  private begun: Promise<unknown> | undefined;
  /** Its only statement has been announced: there is no COMMIT that anything more could go with. */
  alone = false;

  constructor(dataSource: DataSource) {
    super(dataSource.driver as PostgresDriver, 'master');
    // TypeORM opens savepoints inside of it, not a transaction of its own.
    this.isTransactionActive = true;
    this.transactionDepth = 1;
  }

  /** The transaction has no statement so far. */
  private get untouched(): boolean {
    return this.client === undefined;
  }

  /** What comes is the only statement: it needs no transaction around it. */
  standAlone(): void {
    if (this.untouched) this.alone = true;
  }

  override async connect(): Promise<PreparingClient> {
    const client = (await super.connect()) as PreparingClient;
    if (this.client === undefined) {
      this.client = client;
      if (!this.alone) {
        client.together();
        this.begun = client.query('BEGIN');
        // Without it the statement after it fails too, and says why.
        this.begun.catch(() => undefined);
      }
    }
    return client;
  }

  /** Runs what is left and commits, in one write. Throws the first failure; then nothing is committed. */
  async commit(left: readonly { sql: string; params: unknown[] }[]): Promise<void> {
    if (left.length > 0) await this.connect();
    const { client, begun } = this;
    if (!client || !begun) return;
    await begun;
    client.together();
    const work = left.map(({ sql, params }) => client.query(sql, params));
    const [commit, ...results] = await Promise.allSettled([client.query('COMMIT'), ...work]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    if (commit.status === 'rejected') throw commit.reason;
    // The server answers the COMMIT of a transaction that failed before with a rollback, and without an error.
    if (commit.value.command !== 'COMMIT')
      throw new Error('the transaction had failed before its commit: it was rolled back');
  }

  /** Undoes what there is. A connection that cannot even do that is closed, and not used again. */
  async rollback(): Promise<void> {
    const { client } = this;
    if (client && this.begun) await client.query('ROLLBACK').catch((error: unknown) => client.emit('error', error));
  }
}
