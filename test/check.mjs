/**
 * Runs the suites one after the other (one heavy one at a time) and adds up what they counted. A suite that is not run, and every test that a
 * suite skips, is named. Ends with `check: N passed, N failed, N skipped`.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const minute = 60_000;
const scratch = mkdtempSync(join(tmpdir(), 'vcs-check-'));

/** Ends a whole process group, so that no child of a suite outlives its deadline. `onOutput` sees what goes to the terminal. */
const run = (command, args, deadlineMs, onOutput) =>
  new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['inherit', onOutput ? 'pipe' : 'inherit', 'inherit'], detached: true, env: { ...process.env, FORCE_COLOR: '0' } });
    child.stdout?.on('data', (data) => {
      process.stdout.write(data);
      onOutput(String(data));
    });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      process.kill(-child.pid, 'SIGKILL');
    }, deadlineMs);
    child.on('error', (error) => resolve({ ok: false, why: error.message }));
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ ok: code === 0, why: late ? `not done after ${deadlineMs / minute} minutes` : `exit ${code ?? signal}` });
    });
  });

const step = (name, command, args, minutes = 5) => ({
  name,
  async run() {
    const result = await run(command, args, minutes * minute);
    return { passed: result.ok ? 1 : 0, failed: result.ok ? 0 : 1, skipped: [], why: result.ok ? '' : result.why };
  },
});

const jest = (project, minutes, extra = []) => ({
  name: project,
  async run() {
    const report = join(scratch, `${project}.json`);
    const result = await run('npx', ['jest', `--selectProjects=${project}`, '--json', `--outputFile=${report}`, '--forceExit', ...extra], minutes * minute);
    let json;
    try {
      json = JSON.parse(readFileSync(report, 'utf8'));
    } catch {
      return { passed: 0, failed: 1, skipped: [], why: `no report (${result.why})` };
    }
    const skipped = json.testResults.flatMap((file) => file.assertionResults.filter((t) => t.status === 'pending' || t.status === 'todo').map((t) => `${project}: ${t.fullName}`));
    const brokenFiles = json.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
    const failed = json.numFailedTests + brokenFiles + (result.ok || json.numFailedTests + brokenFiles > 0 ? 0 : 1);
    return { passed: json.numPassedTests, failed, skipped, why: failed > 0 ? result.why : '' };
  },
});

/** A suite of ours whose last line counts: `<name>: N passed, N failed, N skipped`. What it skips it names in lines of their own. */
const counted = (name, args, minutes) => ({
  name,
  async run() {
    let output = '';
    const result = await run('npm', ['run', '--silent', ...args], minutes * minute, (text) => (output += text));
    const lines = output.trimEnd().split('\n');
    const last = new RegExp(`^${name}: (\\d+) passed, (\\d+) failed, (\\d+) skipped$`).exec(lines[lines.length - 1] ?? '');
    if (!last) return { passed: 0, failed: 1, skipped: [], why: `no count in its last line (${result.why})` };
    const [passed, failed, skippedCount] = last.slice(1).map(Number);
    const skipped = lines.filter((line) => line.startsWith('skipped: ')).map((line) => `${name}: ${line.slice('skipped: '.length)}`);
    return { passed, failed: failed + (result.ok || failed > 0 ? 0 : 1), skipped, skippedCount, why: failed > 0 || !result.ok ? result.why : '' };
  },
});

/** Everything, also what takes hours: all cases of chaos, all distributions. */
const long = process.argv.includes('--long');
if (long) process.env.VC_STACK_CHECK_LONG = '1';

const suites = [
  step('types', 'npm', ['run', '--silent', 'typecheck']),
  step('lint', 'npm', ['run', '--silent', 'lint']),
  step('boundaries', 'npm', ['run', '--silent', 'boundaries']),
  jest('unit', 8),
  jest('integration', 20, ['--runInBand']),
  jest('security', 12, ['--runInBand']),
  long ? counted('chaos', ['chaos', '--', '--long'], 120) : counted('chaos', ['chaos'], 15),
  jest('guests', long ? 90 : 15, ['--runInBand']),
  jest('e2e', 25, ['--runInBand']),
];

const wanted = process.argv.slice(2).filter((word) => word !== '--long');
const unknown = wanted.filter((name) => !suites.some((s) => s.name === name));
if (unknown.length > 0) {
  console.error(`check: no suite named ${unknown.join(', ')}; there are ${suites.map((s) => s.name).join(', ')}`);
  process.exit(2);
}

const total = { passed: 0, failed: 0, skipped: 0 };
const lines = [];
for (const suite of suites) {
  if (wanted.length > 0 && !wanted.includes(suite.name)) continue;
  console.log(`\n==> ${suite.name}`);
  const started = Date.now();
  const result = await suite.run();
  const seconds = ((Date.now() - started) / 1000).toFixed(0);
  total.passed += result.passed;
  total.failed += result.failed;
  // One line may stand for many that are left out together.
  const skipped = result.skippedCount ?? result.skipped.length;
  total.skipped += skipped;
  for (const name of result.skipped) lines.push(`skipped: ${name}`);
  lines.push(`${suite.name}: ${result.passed} passed, ${result.failed} failed, ${skipped} skipped in ${seconds} s${result.why ? ` (${result.why})` : ''}`);
}
rmSync(scratch, { recursive: true, force: true });
console.log(`\n${lines.join('\n')}`);
console.log(`check: ${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed === 0 ? 0 : 1);
