import { execFile, type ExecFileOptions } from 'node:child_process';

export interface ExecResult {
  stdout: string;
  stderr: string;
}

export interface ExecOptions {
  /** Deadline in milliseconds; the child is killed after it. Default 15,000. */
  timeoutMs?: number;
  /** Written to the child's standard input. */
  input?: string;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  signal?: AbortSignal;
  /** Largest output in bytes. Default 8 MiB. */
  maxBuffer?: number;
}

/** The program ended with a status other than 0, by a signal, or not in time. */
export class ExecError extends Error {
  constructor(
    readonly program: string,
    readonly args: readonly string[],
    readonly exitCode: number | null,
    readonly signal: string | null,
    readonly stderr: string,
    readonly stdout: string,
    cause: unknown,
  ) {
    super(
      `${program} ${args.join(' ')}: ${signal ? `ended by ${signal}` : `exit ${exitCode ?? '?'}`}: ${(stderr || stdout).trim().slice(0, 2000)}`,
      { cause },
    );
    this.name = 'ExecError';
  }
}

/** Runs a program with an argument array, never through a shell. Throws `ExecError` unless it exits with 0. */
export const exec = (program: string, args: readonly string[], options: ExecOptions = {}): Promise<ExecResult> =>
  new Promise((resolve, reject) => {
    const opts: ExecFileOptions = {
      timeout: options.timeoutMs ?? 15_000,
      killSignal: 'SIGKILL',
      maxBuffer: options.maxBuffer ?? 8 * 1024 * 1024,
      encoding: 'utf8',
      shell: false,
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      ...(options.env !== undefined && { env: options.env }),
      ...(options.signal !== undefined && { signal: options.signal }),
    };
    const child = execFile(program, [...args], opts, (error, stdout, stderr) => {
      if (!error) return resolve({ stdout: String(stdout), stderr: String(stderr) });
      const code = (error as NodeJS.ErrnoException).code;
      reject(
        new ExecError(
          program,
          args,
          typeof code === 'number' ? code : null,
          error.signal ?? null,
          String(stderr) || (typeof code === 'string' ? code : ''),
          String(stdout),
          error,
        ),
      );
    });
    if (options.input !== undefined && child.stdin) {
      child.stdin.on('error', () => undefined);
      child.stdin.end(options.input);
    }
  });
