import type { Command } from 'commander';

export interface CliColumn<T> {
  header: string;
  value: (row: T) => string;
  /** Only in `-o wide`. */
  wide?: boolean;
}

/** What a module's commands stand on: the logged-in client and the output formats. Implemented in `core/cli`. */
export interface CliContext {
  /**
   * A REST call below `/api/v1` with the active profile's credential; refreshes an expired access token once.
   * Throws `CliFailure` with code, cause and request id of a problem document.
   */
  request<T>(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, options?: { body?: unknown; query?: Record<string, string | number | boolean | undefined>; idempotencyKey?: string }): Promise<T>;
  /** Uploads a file as a raw body, with a progress line on a terminal. */
  upload<T>(method: 'PUT' | 'POST', path: string, file: string): Promise<T>;
  /** All items of a keyset list, page by page, at most `limit`. */
  list<T>(path: string, query?: Record<string, string | number | boolean | undefined>, limit?: number): Promise<T[]>;
  /** Finds one by id or exact name in a list route; exits with 4 when there is none, with 2 when the name is ambiguous. */
  find<T extends { id: string }>(path: string, noun: string, ref: string): Promise<T>;
  /** Prints rows in the chosen output (table, wide, json, yaml, name). */
  print<T extends object>(rows: T[], columns: CliColumn<T>[]): void;
  /** Prints one object: key/value table, json or yaml. */
  printOne(object: object): void;
  /** Prints an object as `text` says in the forms for people, and as itself in JSON and YAML. */
  printText(object: object, text: () => string): void;
  /** Follows a task to its end with a live line per step; exits with 1 and the cause when it did not succeed. */
  follow(taskId: string): Promise<void>;
  /** `--project` or the profile's. */
  project(): string | undefined;
  /** A WebSocket below `/api/v1` with the profile's credential and CA. */
  socket(path: string): Promise<import('ws').WebSocket>;
  /** A line for the user on standard error, so that standard output holds nothing but the result. */
  info(line: string): void;
  /** Asks before something is destroyed; true without asking when nobody sits at a terminal. */
  confirm(question: string): Promise<boolean>;
  /** A secret, typed without echo; needs a terminal. */
  secret(question: string): Promise<string>;
  /** The first line of standard input. */
  stdinLine(): Promise<string>;
  /** Runs `work` for each in turn. One that fails is printed and does not stop the others; the exit code is then that of the first failure. */
  each(refs: string[], work: (ref: string) => Promise<void>): Promise<void>;
}

export interface CliRegistrar {
  register(program: Command, context: CliContext): void;
}
