import type { PoolClient } from 'pg';
import type { ConnectionUse, Connections, TakenConnection } from './connections';
import { inOneWrite } from './library-internals';
import { rolledBackBefore } from './sql-state';

/**
 * The connection of one transaction. BEGIN leaves together with the first statement and in the same write, what is
 * gathered together with COMMIT: on a machine that shares its cores with the database, round trips are what a
 * transaction costs. One without a statement takes no connection at all.
 */
export class TransactionRunner {
  private taking: Promise<TakenConnection> | undefined;
  private client: PoolClient | undefined;
  private begun: Promise<unknown> | undefined;
  /** The server has answered COMMIT or ROLLBACK: the connection is free for others. */
  private over = false;
  /** Its only statement has been announced: there is no COMMIT that anything more could go with. */
  alone = false;

  constructor(
    private readonly connections: Connections,
    private readonly use: ConnectionUse,
  ) {}

  /** What comes is the only statement: it needs no transaction around it. */
  standAlone(): void {
    if (this.taking === undefined) this.alone = true;
  }

  /** The connection, from the first call on the same. */
  async connect(): Promise<PoolClient> {
    return (await (this.taking ??= this.open())).client;
  }

  /** Runs what is left and commits, in one write. Throws the first failure; then nothing is committed. */
  async commit(left: readonly { sql: string; params: unknown[] }[]): Promise<void> {
    if (left.length > 0) await this.connect();
    const { client, begun } = this;
    if (!client || !begun) return;
    await begun;
    inOneWrite(client);
    const work = left.map(({ sql, params }) => client.query(sql, params));
    const [commit, ...results] = await Promise.allSettled([client.query('COMMIT'), ...work]);
    this.over = commit.status === 'fulfilled';
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    if (commit.status === 'rejected') throw commit.reason;
    // The server answers the COMMIT of a transaction that failed before with a rollback, and without an error.
    if (commit.value.command !== 'COMMIT') throw new Error(rolledBackBefore);
  }

  /** Undoes what there is. */
  async rollback(): Promise<void> {
    const { client } = this;
    if (!client || !this.begun) return;
    await client.query('ROLLBACK').then(
      () => (this.over = true),
      () => undefined,
    );
  }

  /** Gives the connection back. One whose transaction has no known end is closed, and not used again. */
  async release(): Promise<void> {
    const taken = await this.taking?.catch(() => undefined);
    taken?.giveBack(this.begun !== undefined && !this.over);
  }

  private async open(): Promise<TakenConnection> {
    const taken = await this.connections.take(this.use);
    const { client } = taken;
    this.client = client;
    if (!this.alone) {
      inOneWrite(client);
      this.begun = client.query('BEGIN');
      // Without it the statement after it fails too, and says why.
      this.begun.catch(() => undefined);
    }
    return taken;
  }
}
