import 'reflect-metadata';
import { Command } from 'commander';
import { ComputeApp } from './core/app/compute-app';
import { configSchemasOf } from './core/app/declarations';
import { ConfigError } from './core/config/config-error';
import { loadConfig } from './core/config/config-loader';
import type { Config } from './core/config/config';
import { effectiveConfig } from './core/config/effective-config';
import { createLogger } from './core/telemetry/create-logger';
import { Logging } from './core/telemetry/logging';
import { allModules } from './modules/all-modules';

interface RoleApp {
  stop(): Promise<void>;
}

const stopTimeoutMs = 30_000;

const configure = async (command: Command): Promise<Config> =>
  loadConfig({
    files: command.optsWithGlobals<{ config?: string[] }>().config ?? [],
    env: process.env,
    modules: await configSchemasOf(allModules),
  });

/** Runs until SIGTERM or SIGINT; a second signal ends the process at once. */
const run = async (
  command: Command,
  start: (config: Config, logging: Logging) => Promise<RoleApp[]>,
): Promise<void> => {
  const config = await configure(command);
  const logging = new Logging(createLogger(config));
  const log = logging.for('main');
  const stopped = new Promise<string>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal));
  });
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'a promise failed and nobody waited for it'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'unexpected failure: ending; what was under way is taken up again at the next start');
    process.exit(1);
  });
  const apps = await start(config, logging);
  log.info('started');
  process.send?.('started');
  const signal = await stopped;
  log.info({ signal }, 'stopping; guests go on');
  setTimeout(() => process.exit(1), stopTimeoutMs).unref();
  for (const app of apps.reverse()) await app.stop();
  log.info('stopped');
  process.exit(0);
};

const management = async (config: Config, logging: Logging, migrate: boolean) => {
  // Loaded on demand: the compute role never loads TypeORM.
  const { ManagementApp } = await import('./core/app/management-app.js');
  const app = new ManagementApp(config, logging, allModules, { migrate });
  await app.start();
  return app;
};

const compute = async (config: Config, logging: Logging, token?: string): Promise<RoleApp> => {
  const app = new ComputeApp(config, logging, allModules);
  await app.start(token);
  return app;
};

const program = new Command('vc-stack')
  .description('A private cloud: the control plane and the agent of a host')
  .option('-c, --config <file...>', 'YAML files; later ones win')
  .showHelpAfterError();

program
  .command('management')
  .description('REST, console, workflows; several may run on one database')
  .option('--migrate', 'apply missing migrations first')
  .action((options: { migrate?: boolean }, command: Command) =>
    run(command, async (config, logging) => [await management(config, logging, options.migrate === true)]),
  );
program
  .command('compute')
  .description('the agent of a hypervisor host; as root')
  .action((_options, command: Command) => run(command, async (config, logging) => [await compute(config, logging)]));
program
  .command('all')
  .description('both roles in one process: the single host, and development')
  .action((_options, command: Command) =>
    run(command, async (config, logging) => {
      const app = await management(config, logging, true);
      try {
        return [app, await compute(config, logging, await app.localToken())];
      } catch (error) {
        await app.stop();
        throw error;
      }
    }),
  );
program
  .command('migrate')
  .description('apply missing migrations to the configured database and end')
  .action(async (_options, command: Command) => {
    const config = await configure(command);
    const { migrate } = await import('./core/app/migrate.js');
    const applied = await migrate(config, new Logging(createLogger(config)));
    process.stdout.write(
      applied.length === 0 ? 'nothing to do\n' : `applied:\n${applied.map((name) => `  ${name}\n`).join('')}`,
    );
  });
program
  .command('purge')
  .description("take this host's guests and networks off the machine for good; the agent must not run")
  .requiredOption('--yes', 'yes, end every guest')
  .action(async (_options, command: Command) => {
    const config = await configure(command);
    await new ComputeApp(config, new Logging(createLogger(config)), allModules).purge();
    process.exit(0);
  });
program
  .command('database')
  .description('the embedded PostgreSQL')
  .argument('<stop>', 'stop: shut it down; management starts it again by itself')
  .action(async (verb: string, _options, command: Command) => {
    if (verb !== 'stop') throw new Error(`unknown verb "${verb}": there is stop`);
    const config = await configure(command);
    const { embeddedPostgres } = await import('./core/app/management-app.js');
    await embeddedPostgres(config, new Logging(createLogger(config))).stop();
  });
program
  .command('config')
  .description('print the effective configuration, secrets masked')
  .action(async (_options, command: Command) => {
    process.stdout.write(effectiveConfig(await configure(command)));
  });
program
  .command('doctor')
  .description('what this machine lacks for the compute role, and the command that mends it')
  .action(async () => {
    const { examine } = await import('./core/host/doctor.js');
    const checks = await examine();
    for (const check of checks)
      process.stdout.write(
        `${check.ok ? 'ok  ' : 'FAIL'}  ${check.name}: ${check.message}${check.ok ? '' : `\n      → ${check.fix}`}\n`,
      );
    process.exitCode = checks.every((c) => c.ok) ? 0 : 1;
  });

program.parseAsync().catch((error: unknown) => {
  const text =
    error instanceof ConfigError || (error instanceof Error && process.env['VC_STACK_LOG__LEVEL'] !== 'debug')
      ? (error as Error).message
      : String((error as Error).stack ?? error);
  process.stderr.write(`vc-stack: ${text}\n`);
  process.exit(1);
});
