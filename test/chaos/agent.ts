import 'reflect-metadata';
import { ComputeApp } from '../../src/core/app/compute-app';
import { configSchemasOf } from '../../src/core/app/declarations';
import { loadConfig } from '../../src/core/config/config-loader';
import { createLogger } from '../../src/core/telemetry/create-logger';
import { Logging } from '../../src/core/telemetry/logging';
import { chaosModules } from './modules';

/** A host's agent with all modules that chaos disturbs. It ends by being killed. */
const main = async (): Promise<void> => {
  const config = await loadConfig({ env: process.env, modules: await configSchemasOf(chaosModules) });
  const app = new ComputeApp(config, new Logging(createLogger(config)), chaosModules);
  await app.start();
  process.send?.('started');
};

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
});
