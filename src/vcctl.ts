import { commandsOf } from './core/app/declarations';
import { printFailure } from './core/cli/output/error-printer';
import { runVcctl } from './core/cli/program';
import { allModules } from './modules/all-modules';

// `vcctl ... | head` closes the pipe early; that is no failure of ours. A full disk is one, and is told in words.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.exit(printFailure(Object.assign(error, { path: 'standard output' }), { kind: 'table' }));
});
// Whoever reads errors is gone: there is nobody to tell.
process.stderr.on('error', () => process.exit(1));
for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(event, (error: unknown) => process.exit(printFailure(error, { kind: 'table' })));

void commandsOf(allModules)
  .then((commands) => runVcctl(process.argv, process.env, commands))
  .then((exitCode) => {
    process.exitCode = exitCode;
  });
