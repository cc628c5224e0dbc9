import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../support/repository';

/** It and all that it needs, by exact version: the same requests everywhere, also when something newer comes out. */
const requirements = join(__dirname, 'schemathesis.requirements.txt');
const folder = join(
  repositoryRoot,
  '.cache',
  `schemathesis-${createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16)}`,
);
const program = join(folder, 'bin', 'schemathesis');
const installTimeoutMs = 300_000;

/**
 * What stands in the way of running it; undefined when it is there. Makes its virtual environment, once for the
 * checkout.
 */
export const schemathesisLacks = (): string | undefined => {
  if (existsSync(join(folder, 'complete'))) return undefined;
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(repositoryRoot, '.cache'), { recursive: true });
    execFileSync('python3', ['-m', 'venv', folder], { stdio: 'pipe', timeout: installTimeoutMs });
    execFileSync(
      join(folder, 'bin', 'pip'),
      ['install', '--quiet', '--disable-pip-version-check', '--requirement', requirements],
      { stdio: 'pipe', timeout: installTimeoutMs },
    );
    mkdirSync(join(folder, 'complete'));
    return undefined;
  } catch (error) {
    const { stderr, message } = error as { stderr?: Buffer; message: string };
    return (stderr?.toString().trim().split('\n').pop() || message.split('\n')[0] || 'it cannot be installed').slice(
      0,
      200,
    );
  }
};

/** Runs it; resolves with its exit code and what it said. Ends it after `timeoutMs`. */
export const runSchemathesis = (
  args: readonly string[],
  timeoutMs: number,
): Promise<{ code: number | string; output: string }> =>
  new Promise((resolve, reject) => {
    // It keeps a cache where it runs.
    const cwd = mkdtempSync(join(tmpdir(), 'vcs-schemathesis-'));
    const child = spawn(program, [...args], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NO_COLOR: '1', NO_PROXY: '*', no_proxy: '*' },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      rmSync(cwd, { recursive: true, force: true });
      resolve({ code: code ?? signal ?? '?', output });
    });
  });
