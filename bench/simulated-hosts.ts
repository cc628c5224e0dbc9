import 'reflect-metadata';
import { join } from 'node:path';
import { z } from 'zod';
import { ComputeApp } from '../src/core/app/compute-app';
import { configSchemasOf } from '../src/core/app/declarations';
import { loadConfig } from '../src/core/config/config-loader';
import { createLogger } from '../src/core/telemetry/create-logger';
import { Logging } from '../src/core/telemetry/logging';
import { allModules } from '../src/modules/all-modules';
import { inLanes } from './harness/statistics';

/** One host per token; its files go below `directory`. `env`: further configuration of all of them. */
const order = z.object({
  directory: z.string(),
  tokens: z.array(z.string()),
  env: z.record(z.string(), z.string()).default({}),
});
const startAtOnce = 4;

const start = async (
  directory: string,
  index: number,
  token: string,
  env: Record<string, string>,
): Promise<ComputeApp> => {
  const name = `sim${String(index).padStart(2, '0')}`;
  const config = await loadConfig({
    modules: await configSchemasOf(allModules),
    env: {
      VC_STACK_STATE_DIR: join(directory, name),
      VC_STACK_RUN_DIR: join(directory, name, 'r'),
      VC_STACK_LOG__LEVEL: 'warn',
      VC_STACK_COMPUTE__NAME: name,
      VC_STACK_COMPUTE__LISTEN: '127.0.0.1',
      VC_STACK_COMPUTE__ADDRESS: '127.0.0.1',
      VC_STACK_COMPUTE__PORT: '0',
      VC_STACK_COMPUTE__TOKEN: token,
      VC_STACK_MODULES__COMPUTE__DRIVERS: '[simulated]',
      VC_STACK_MODULES__IMAGE__NODE_DRIVER: 'simulated',
      VC_STACK_MODULES__STORAGE__DRIVER: 'simulated',
      VC_STACK_MODULES__NETWORK__DRIVER: 'simulated',
      ...env,
    },
  });
  const app = new ComputeApp(config, new Logging(createLogger(config)), allModules);
  await app.start();
  return app;
};

const apps: ComputeApp[] = [];
let stopping = false;
const stop = async (): Promise<void> => {
  if (stopping) return;
  stopping = true;
  setTimeout(() => process.exit(1), 20_000).unref();
  await Promise.allSettled(apps.map((app) => app.stop()));
  process.exit(0);
};
for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.once(event, () => void stop());

process.once('message', (message) => {
  const { directory, tokens, env } = order.parse(message);
  inLanes(tokens.length, startAtOnce, async (index) => {
    apps.push(await start(directory, index, tokens[index] ?? '', env));
  }).then(
    () => process.send?.('started'),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      process.exit(1);
    },
  );
});
