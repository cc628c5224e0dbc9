import { DataSource, type MigrationInterface } from 'typeorm';
import type { Newable } from 'inversify';
import { PreparingClient } from './preparing-client';

export interface DataSourceInit {
  /** Connections of this process at most. Default 20. */
  pool?: number;
  entities?: Newable<object>[];
  migrations?: Newable<MigrationInterface>[];
  /** Seen in `pg_stat_activity`. Default `vc-stack`. */
  applicationName?: string;
  /**
   * Longest statement in milliseconds, so that a lost lock or a bad plan never holds a connection for good. 0: none.
   * Default 30,000.
   */
  statementTimeoutMs?: number;
  /**
   * Longest pause inside a transaction in milliseconds: a process that hangs there (or is frozen) loses its locks after
   * it. Default 15,000.
   */
  idleInTransactionMs?: number;
}

/**
 * The data source of one process, not connected yet (`initialize()`). `url` is
 * `postgres://user:password@host:port/database`.
 */
export const createDataSource = (url: string, init: DataSourceInit = {}): DataSource =>
  new DataSource({
    type: 'postgres',
    url,
    synchronize: false,
    logging: false,
    entities: init.entities ?? [],
    migrations: init.migrations ?? [],
    migrationsTableName: 'schema_migration',
    applicationName: init.applicationName ?? 'vc-stack',
    poolSize: init.pool ?? 20,
    extra: {
      Client: PreparingClient,
      // Times come as text in the server's style of the day, which an operator's server may have set to another one.
      options: '-c datestyle=ISO',
      statement_timeout: init.statementTimeoutMs ?? 30_000,
      idle_in_transaction_session_timeout: init.idleInTransactionMs ?? 15_000,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
    },
  });
