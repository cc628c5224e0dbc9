import type { Duplex } from 'node:stream';
import pino from 'pino';
import { createDataSource } from '../../src/core/db/data-source';
import { Database } from '../../src/core/db/database';
import { loadMigrations, runMigrations } from '../../src/core/db/migrations';
import { OutboxRepository } from '../../src/core/events/outbox.repository';
import { PostgresOutbox } from '../../src/core/events/postgres-outbox';
import { NodeCaller } from '../../src/core/m2m/management/node-caller';
import { Logging } from '../../src/core/telemetry/logging';
import type { RegistrableDefinition } from '../../src/core/workflow/definition/definition-registry';
import { WorkflowSettings } from '../../src/core/workflow/workflow-settings';
import { TestEngine } from '../../test/support/test-engine';
import type { Lab } from './lab';

class NoNodes extends NodeCaller {
  override call(): Promise<never> {
    return Promise.reject(new Error('no step calls a node'));
  }

  override takesCallsInTurn(): boolean {
    return false;
  }

  override callInTurn(): Promise<never> {
    return this.call();
  }

  override outcome(): Promise<never> {
    return this.call();
  }

  override stream(): Promise<Duplex> {
    return this.call();
  }
}

/** The engine with its defaults in this process, on a new database, without hosts. */
export class BenchEngine {
  private constructor(
    readonly engine: TestEngine,
    readonly database: Database,
  ) {}

  static async open(
    lab: Lab,
    url: string,
    pool: number,
    definitionsOf: (database: Database) => readonly RegistrableDefinition[],
  ): Promise<BenchEngine> {
    const source = createDataSource(url, { pool, migrations: await loadMigrations() });
    await source.initialize();
    const database = new Database(source);
    lab.defer(() => database.close());
    await runMigrations(source);
    const engine = new TestEngine({
      database,
      nodes: new NoNodes(),
      outbox: new PostgresOutbox(new OutboxRepository(database)),
      logging: new Logging(pino({ level: 'silent' })),
      settings: new WorkflowSettings(),
    });
    engine.register(definitionsOf(database));
    await engine.start();
    lab.defer(() => engine.stop());
    return new BenchEngine(engine, database);
  }
}
