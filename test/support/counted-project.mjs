/** Runs the tests of one jest project and counts them, for suites whose last line is `<name>: N passed, N failed, N skipped`. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import summary from '../check/summary.js';

const root = join(import.meta.dirname, '..', '..');

/**
 * Names what is skipped and what fails, and says the last line.
 *
 * @param name of the project, and of the suite
 * @param options `patterns`: which of its files; `workers`: files at once; `env`: beside this process's own
 * @returns the exit code
 */
export const runCounted = async (name, { patterns, workers, env = {} }) => {
  const scratch = mkdtempSync(join(tmpdir(), `vcs-${name}-`));
  const progress = join(scratch, 'progress');
  writeFileSync(progress, '');
  const child = spawn(
    process.execPath,
    [
      join(root, 'node_modules', 'jest', 'bin', 'jest.js'),
      `--selectProjects=${name}`,
      `--testPathPatterns=${patterns}`,
      `--maxWorkers=${workers}`,
      '--reporters=default',
      `--reporters=${join(root, 'test', 'check', 'progress-reporter.js')}`,
      '--forceExit',
    ],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, VC_STACK_TEST_PROGRESS: progress, ...env },
    },
  );
  const code = await new Promise((done) => {
    child.once('error', (error) => done(error.message));
    child.once('close', (exit, signal) => done(exit ?? signal));
  });
  const lines = readFileSync(progress, 'utf8').trim().split('\n').filter(Boolean);
  rmSync(scratch, { recursive: true, force: true });
  const { passed, failed, skipped } = summary.countRun(
    lines.map((line) => JSON.parse(line)),
    code === 0 ? '' : `exit ${code}`,
  );
  for (const one of skipped) console.log(`skipped: ${one}`);
  for (const { name: what, message } of failed) console.log(`FAIL ${what}\n  ${message}`);
  console.log(`${name}: ${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
  return failed.length === 0 ? 0 : 1;
};
