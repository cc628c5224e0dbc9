import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { repositoryRoot } from './repository';

let compiled = false;

/**
 * Compiles the scripts that run as children, once for all of a test: where they run themselves they cannot keep what
 * they compiled. They end at once, for nobody gives them a job. Whatever starts a management of its own in a test calls
 * this first.
 */
export const compileScripts = (): void => {
  if (compiled) return;
  compiled = true;
  for (const script of ['fetch/fetch-child', 'ingest/bytes-child'])
    execFileSync(process.execPath, [
      ...process.execArgv,
      join(repositoryRoot, 'src/modules/image/management', `${script}.ts`),
    ]);
};
