import { spawn } from 'node:child_process';
import type { z } from 'zod';
import { limitedScript, type ChildLimits, type ChildSandbox } from './limited-child';
import { sandboxFailed } from '../sandbox/sandbox';
import { SandboxMissing } from '../sandbox/sandbox-missing';

/** A child ended before it had said what came of its job. */
export class ChildDied extends Error {
  constructor(
    readonly exitCode: number | null,
    readonly signal: string | null,
    /** The end of what it wrote to standard error; for operators only. */
    readonly stderr: string,
    options?: { cause?: unknown },
  ) {
    super(`the child ended ${signal ? `by ${signal}` : `with ${exitCode ?? '?'}`}`, options);
    this.name = 'ChildDied';
  }
}

export interface ScriptJob<R, T> {
  /** Path of the script, without extension. */
  script: string;
  limits: ChildLimits;
  sandbox: ChildSandbox;
  /** Its first message; JSON. */
  job: object;
  /** Open files of this process that it gets as its descriptors 4, 5, ... */
  files: readonly number[];
  env?: NodeJS.ProcessEnv;
  reports: z.ZodType<R>;
  /** Called with each report, one after the other. A defined result is the outcome, and the child's work is over. */
  heard: (report: R) => Promise<T | undefined>;
  signal: AbortSignal;
}

const stderrBytes = 4_000;

/**
 * Runs one job in a Node process of its own, with limits, in a sandbox and without rights. Rejects with what `heard`
 * throws, the signal's reason, `ChildDied`, or `SandboxMissing` where none can be made. Whatever it comes to, the child
 * is gone then.
 */
export const runScript = async <R, T>(options: ScriptJob<R, T>): Promise<T> => {
  const { script, limits, sandbox, job, files, env = {}, reports, heard, signal } = options;
  const [program, args] = await limitedScript(script, limits, sandbox);
  signal.throwIfAborted();
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', ...files],
    cwd: '/',
    env: { PATH: process.env['PATH'], LC_ALL: 'C', ...env },
  });
  let words = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-stderrBytes)));
  // Its last words may arrive after its end.
  const closed = new Promise<[number | null, string | null]>((done) =>
    child.once('close', (code, by) => done([code, by])),
  );
  const silent = new Promise<void>((done) => child.once('disconnect', done));
  return new Promise<T>((resolve, reject) => {
    let settled = false;
    const settle = (how: () => void): void => {
      if (settled) return;
      settled = true;
      signal.removeEventListener('abort', stop);
      child.kill('SIGKILL');
      // Its files are the caller's again only when nobody writes to them any more.
      void closed.then(how);
    };
    const stop = (): void => settle(() => reject(signal.reason as Error));
    let hearing: Promise<void> = Promise.resolve();
    const hear = async (message: unknown): Promise<void> => {
      if (settled) return;
      const report = reports.safeParse(message);
      if (!report.success) throw new ChildDied(null, null, words, { cause: report.error });
      const outcome = await heard(report.data);
      if (outcome !== undefined) settle(() => resolve(outcome));
    };
    signal.addEventListener('abort', stop);
    child.on('message', (message) => {
      hearing = hearing.then(() => hear(message)).catch((error: unknown) => settle(() => reject(error as Error)));
    });
    child.once('error', (error) => {
      settled = true;
      signal.removeEventListener('abort', stop);
      reject(error);
    });
    void Promise.all([closed, silent]).then(([[code, by]]) =>
      hearing.then(() =>
        settle(() =>
          reject(
            sandboxFailed(words) ? new SandboxMissing(words.trim().slice(0, 500)) : new ChildDied(code, by, words),
          ),
        ),
      ),
    );
    child.send(job, () => undefined);
  });
};
