/**
 * Runs the suites and adds up what they counted: the suites one after the other, the test files of one beside each
 * other on all cores. A suite that is not run, every test that a suite skips, and at the very end every test that
 * failed, is named. Ends with `check: N passed, N failed, N skipped`.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import summary from './check/summary.js';

const { briefly, countLines, countRun, failedLines, skippedLines } = summary;

const minute = 60_000;
const scratch = mkdtempSync(join(tmpdir(), 'vcs-check-'));

/** How many characters of a run's end are kept to be told when it says nothing else. */
const tailChars = 4_000;
/** How long output is still read after the end of what wrote it. */
const drainMs = 2_000;

/**
 * Runs to the end or the deadline, then ends the whole process group, so that no child of a suite outlives it. `output`
 * is all of stdout, `tail` the end of both.
 */
const run = (command, args, deadlineMs, env = {}) =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ['inherit', 'pipe', 'pipe'],
      detached: true,
      env: { ...process.env, FORCE_COLOR: '0', ...env },
    });
    let output = '';
    let tail = '';
    const pass = (from, to) =>
      from.setEncoding('utf8').on('data', (text) => {
        to.write(text);
        if (from === child.stdout) output += text;
        tail = (tail + text).slice(-tailChars);
      });
    pass(child.stdout, process.stdout);
    pass(child.stderr, process.stderr);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      process.kill(-child.pid, 'SIGKILL');
    }, deadlineMs);
    child.on('error', (error) => {
      clearTimeout(timer);
      resolve({ why: error.message, output, tail });
    });
    // What a suite leaves behind may hold its output open: its own end is what counts.
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      const why = late ? `not done after ${deadlineMs / minute} minutes` : code === 0 ? '' : `exit ${code ?? signal}`;
      const over = () => resolve({ why, output, tail });
      child.once('close', over);
      setTimeout(over, drainMs).unref();
    });
  });

const step = (name, command, args, minutes = 5) => ({
  name,
  async run() {
    const { why, output, tail } = await run(command, args, minutes * minute);
    return {
      passed: why === '' ? 1 : 0,
      failed: why === '' ? [] : [{ name: why, message: briefly(output.trim() || tail) }],
      skipped: [],
      why,
    };
  },
});

/**
 * Files of a suite have nothing in common (own namespaces, ports, servers, directories), and where one waits for a
 * guest or a deadline another has the core.
 */
const cores = Math.min(4, availableParallelism());

/** @param workers files at once */
const jest = (project, minutes, workers = cores) => ({
  name: project,
  async run() {
    const progress = join(scratch, `${project}.progress`);
    writeFileSync(progress, '');
    const reporters = [
      '--reporters=default',
      `--reporters=${join(import.meta.dirname, 'check', 'progress-reporter.js')}`,
    ];
    const { why } = await run(
      'npx',
      [
        'jest',
        `--selectProjects=${project}`,
        `--maxWorkers=${workers}`,
        `--testSequencer=${join(import.meta.dirname, 'check', 'longest-first.js')}`,
        ...reporters,
        '--forceExit',
      ],
      minutes * minute,
      { VC_STACK_TEST_PROGRESS: progress },
    );
    return {
      ...countRun(
        readFileSync(progress, 'utf8')
          .trim()
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
        why,
      ),
      why,
    };
  },
});

/**
 * A suite of ours whose last line counts: `<name>: N passed, N failed, N skipped`. What it skips and what fails it
 * names in lines of their own.
 */
const counted = (name, args, minutes) => ({
  name,
  async run() {
    const { why, output, tail } = await run('npm', ['run', '--silent', ...args], minutes * minute);
    return { ...countLines(name, output, why, tail), why };
  },
});

/** What is not run, named. */
const notRun = (name, why) => ({ name, run: async () => ({ passed: 0, failed: [], skipped: [why], why: '' }) });

/** Everything, also what takes hours: all cases of chaos, all distributions, the lab host, the long soak. */
const long = process.argv.includes('--long');
if (long) process.env.VC_STACK_TEST_LONG = '1';
const wanted = process.argv.slice(2).filter((word) => word !== '--long');

/** Suites of one line run beside each other. */
const stages = [
  [
    step('types', 'npm', ['run', '--silent', 'typecheck']),
    step('lint', 'npm', ['run', '--silent', 'lint']),
    step('boundaries', 'npm', ['run', '--silent', 'boundaries']),
  ],
  [jest('unit', 8)],
  [jest('integration', 20)],
  [jest('compat', 5)],
  [counted('conformance', ['conformance'], 8)],
  [jest('security', 12)],
  [long ? counted('chaos', ['chaos', '--', '--long'], 120) : counted('chaos', ['chaos'], 15)],
  // A Debian guest under emulation has need of all cores.
  [jest('guests', long ? 90 : 15, 1)],
  [jest('e2e', 25)],
  [counted('network', ['test:network'], 12)],
  [long ? counted('soak', ['soak', '--', '--cycles', '200'], 120) : counted('soak', ['soak'], 15)],
  // A whole host in software emulation, in which everything takes ten times as long.
  [
    long || wanted.includes('lab')
      ? counted('lab', ['test:lab'], 150)
      : notRun('lab', 'a whole host with KVM (--long, or the suite by its name)'),
  ],
];
const suites = stages.flat();

const unknown = wanted.filter((name) => !suites.some((s) => s.name === name));
if (unknown.length > 0) {
  console.error(`check: no suite named ${unknown.join(', ')}; there are ${suites.map((s) => s.name).join(', ')}`);
  process.exit(2);
}

const total = { passed: 0, failed: 0, skipped: 0 };
const counts = [];
const failures = [];
const skips = [];
for (const stage of stages) {
  const due = stage.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  if (due.length === 0) continue;
  console.log(`\n==> ${due.map(({ name }) => name).join(', ')}`);
  const results = await Promise.all(
    due.map(async (suite) => {
      const started = Date.now();
      const result = await suite.run();
      return { ...result, name: suite.name, seconds: ((Date.now() - started) / 1000).toFixed(0) };
    }),
  );
  for (const { name, seconds, passed, failed, skipped, skippedCount, why } of results) {
    // One line may stand for many that are left out together.
    const left = skippedCount ?? skipped.length;
    total.passed += passed;
    total.failed += failed.length;
    total.skipped += left;
    for (const one of skipped) skips.push({ suite: name, name: one });
    for (const failure of failed) failures.push({ suite: name, ...failure });
    counts.push(
      `${name}: ${passed} passed, ${failed.length} failed, ${left} skipped in ${seconds} s${why ? ` (${why})` : ''}`,
    );
  }
}
rmSync(scratch, { recursive: true, force: true });
console.log(`\n${[...skippedLines(skips), ...counts, ...failedLines(failures)].join('\n')}`);
console.log(`check: ${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed === 0 ? 0 : 1);
