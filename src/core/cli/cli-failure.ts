import type { FieldError } from '../errors/problem';

/** What the shell sees. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, unauthenticated: 3, notFound: 4, conflict: 5 } as const;

/** Why one host was refused, from a 409 `no_host`. */
export interface RefusedHost {
  host: string;
  code: string;
  reason: string;
}

export interface CliFailureInit {
  exitCode: number;
  /** Stable code of the problem document, or one of the client's own. */
  code: string;
  errors?: FieldError[];
  hosts?: RefusedHost[];
  requestId?: string;
  /** What to do next. */
  hint?: string;
  /** Its text is printed already. */
  silent?: boolean;
  /** The problem document as the server sent it. */
  problem?: Record<string, unknown>;
}

/** Ends the command: printed on standard error, with an exit code of its own. */
export class CliFailure extends Error {
  readonly exitCode: number;
  readonly code: string;
  readonly errors: FieldError[];
  readonly hosts: RefusedHost[];
  readonly requestId: string | undefined;
  readonly hint: string | undefined;
  readonly silent: boolean;
  readonly problem: Record<string, unknown> | undefined;

  constructor(message: string, init: CliFailureInit) {
    super(message);
    this.name = 'CliFailure';
    this.exitCode = init.exitCode;
    this.code = init.code;
    this.errors = init.errors ?? [];
    this.hosts = init.hosts ?? [];
    this.requestId = init.requestId;
    this.hint = init.hint;
    this.silent = init.silent ?? false;
    this.problem = init.problem;
  }
}

/** A mistake on the command line. */
export const usageFailure = (message: string): CliFailure =>
  new CliFailure(message, { exitCode: exitCodes.usage, code: 'usage' });

const exitCodeOf = (status: number, code: string): number => {
  if (code === 'ambiguous_name' || code === 'project_required') return exitCodes.usage;
  if (status === 401) return exitCodes.unauthenticated;
  if (status === 404) return exitCodes.notFound;
  return status === 409 ? exitCodes.conflict : exitCodes.failed;
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const records = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter((v): v is Record<string, unknown> => typeof v === 'object' && v !== null) : [];

/**
 * The failure that an HTTP answer of 400 or more means. `body` is whatever came: a problem document, or a proxy's page.
 */
export const failureOf = (status: number, body: unknown): CliFailure => {
  const problem = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const code = text(problem['code']) || `http_${status}`;
  const detail = text(problem['detail']) || text(problem['title']) || `The server answered ${status}.`;
  const requestId = text(problem['requestId']);
  return new CliFailure(detail, {
    exitCode: exitCodeOf(status, code),
    code,
    errors: records(problem['errors']).map((e) => ({
      path: text(e['path']),
      code: text(e['code']),
      message: text(e['message']),
    })),
    hosts: records(problem['hosts'])
      .filter((h) => h['fits'] !== true)
      .map((h) => ({ host: text(h['host']), code: text(h['code']), reason: text(h['reason']) })),
    ...(requestId && { requestId }),
    ...(text(problem['code']) && { problem }),
    ...(status === 401 && code !== 'invalid_credentials' && { hint: 'Log in: vcctl login <url>' }),
    ...(code === 'project_required' && { hint: 'Name the project: --project <name>' }),
  });
};
