import type { Config } from '../config/config';
import { createDataSource } from '../db/data-source';
import { loadMigrations, refuseNewerSchema, runMigrations, schemaStatus } from '../db/migrations';
import type { Logging } from '../telemetry/logging';
import { buildVersion } from '../config/build-version';
import { embeddedPostgres } from './management-app';

/**
 * Applies what is missing to the configured database (the embedded one is started for it). Returns the names applied.
 */
export const migrate = async (config: Config, logging: Logging): Promise<string[]> => {
  const embedded = config.core.database.url === '' ? embeddedPostgres(config, logging) : undefined;
  const url = embedded ? await embedded.start() : config.core.database.url;
  const dataSource = createDataSource(url, { pool: 2, migrations: await loadMigrations(), statementTimeoutMs: 0 });
  await dataSource.initialize();
  try {
    refuseNewerSchema(await schemaStatus(dataSource), buildVersion);
    return await runMigrations(dataSource);
  } finally {
    await dataSource.destroy();
    await embedded?.stop();
  }
};
