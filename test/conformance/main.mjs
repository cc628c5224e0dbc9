/**
 * Puts the conformance cases to the simulated VMM's process as each release behaves, or to a real Cloud Hypervisor:
 *
 *     npm run conformance                      the simulations, and a real one named by VC_CLOUD_HYPERVISOR or on the PATH
 *     npm run conformance -- --binary PATH     that program only
 *
 * Names what is skipped and what fails; the last line is `conformance: N passed, N failed, N skipped`.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import summary from '../check/summary.js';

const { countRun } = summary;
const { binary } = parseArgs({ options: { binary: { type: 'string' } } }).values;
if (binary !== undefined) {
  try {
    accessSync(resolve(binary), constants.X_OK);
  } catch (error) {
    console.error(`conformance: ${error.message}`);
    process.exit(2);
  }
}

const root = join(import.meta.dirname, '..', '..');
const scratch = mkdtempSync(join(tmpdir(), 'vcs-conformance-'));
const progress = join(scratch, 'progress');
writeFileSync(progress, '');
const child = spawn(
  process.execPath,
  [
    join(root, 'node_modules', 'jest', 'bin', 'jest.js'),
    '--selectProjects=conformance',
    `--testPathPatterns=test/conformance/${binary === undefined ? '' : 'binary'}`,
    '--maxWorkers=2',
    '--reporters=default',
    `--reporters=${join(root, 'test', 'check', 'progress-reporter.js')}`,
    '--forceExit',
  ],
  {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      VC_STACK_TEST_PROGRESS: progress,
      ...(binary !== undefined && { VC_CLOUD_HYPERVISOR: resolve(binary) }),
    },
  },
);
const code = await new Promise((done) => {
  child.once('error', (error) => done(error.message));
  child.once('close', (exit, signal) => done(exit ?? signal));
});
const lines = readFileSync(progress, 'utf8').trim().split('\n').filter(Boolean);
rmSync(scratch, { recursive: true, force: true });
const { passed, failed, skipped } = countRun(
  lines.map((line) => JSON.parse(line)),
  code === 0 ? '' : `exit ${code}`,
);
for (const name of skipped) console.log(`skipped: ${name}`);
for (const { name, message } of failed) console.log(`FAIL ${name}\n  ${message}`);
console.log(`conformance: ${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
process.exit(failed.length === 0 ? 0 : 1);
