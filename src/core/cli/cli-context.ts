import type { CliColumn } from './output/cli-column';
import type {
  AnswerOf,
  Init,
  ItemOf,
  ListInit,
  ListPath,
  Method,
  PathOf,
  PathWith,
  QueryOf,
} from '../../rest/rest-call';
import type { ListOptions } from './input/list-options';
import type { Noun } from './noun';
import type { Query } from './session/rest-client';
import type { Section } from './output/sections';

/** What a verb did to one object. */
export interface Outcome {
  /** For people. */
  text: string;
  /** For programs: the object as it is now, or what is known of it. */
  object: object;
}

export interface RequestOptions {
  body?: unknown;
  query?: Query;
  idempotencyKey?: string;
}

/** What a module's commands stand on: the logged-in client and the output formats. Implemented in `core/cli`. */
export interface CliContext {
  /**
   * A REST call below `/api/v1` with the active profile's credential; refreshes an expired access token once.
   * Throws `CliFailure` with code, cause and request id of a problem document.
   */
  request<M extends Method, P extends PathWith<M>>(method: M, path: P, ...init: Init<M, P>): Promise<AnswerOf<M, P>>;
  /** As `request`, for a path that is known only when the command runs: nothing of it is checked before. */
  requestAt<T>(method: Uppercase<Method>, path: string, options?: RequestOptions): Promise<T>;
  /** Uploads a file as a raw body, with a progress line on a terminal. */
  upload<P extends PathWith<'put'>>(path: P, parameters: PathOf<'put', P>, file: string): Promise<AnswerOf<'put', P>>;
  /** What a path answers that is no JSON, such as a picture. */
  download<P extends PathWith<'get'>>(
    path: P,
    parameters: PathOf<'get', P>,
    query?: QueryOf<'get', P>,
  ): Promise<Buffer>;
  /**
   * As `download`, straight into a file that only the caller may read, however large; with a progress line on a terminal.
   * `resume`: goes on at the end of what lies there. Returns the bytes that the file has.
   */
  downloadTo<P extends PathWith<'get'>>(
    path: P,
    parameters: PathOf<'get', P>,
    file: string,
    options?: { query?: QueryOf<'get', P>; resume?: boolean },
  ): Promise<number>;
  /** All items of a keyset list, page by page, at most `limit` (10,000 unless given). */
  list<P extends ListPath>(path: P, ...init: ListInit<P, { limit?: number }>): Promise<ItemOf<P>[]>;
  /** As `list`, for a path that is known only when the command runs. */
  listAt<T>(path: string, query?: Query, limit?: number): Promise<T[]>;
  /** Makes a noun known, so that other modules' commands may refer to it by its name. */
  addNoun(noun: Noun): void;
  /** The noun of that name, of whichever module. */
  noun(name: string): Noun;
  /**
   * Id or name of the object that the user means: a unique prefix of an id (at least four digits) and a name that no
   * path can carry become the id, all else stays. Exits with 4 when there is none, with 2 when there are several.
   */
  resolve(noun: string, ref: string): Promise<string>;
  /** The path of the object that the user means: `/instances/web`. */
  pathOf(noun: string, ref: string): Promise<string>;
  /** The object that the user means. */
  get<T extends { id: string }>(noun: string, ref: string): Promise<T>;
  /** Prints rows in the chosen output. */
  print<T extends object>(rows: T[], columns: CliColumn<T>[], options?: ListOptions): void;
  /**
   * Prints a list as its options say; with `--watch` again and again. What `fetch` is given belongs into the query: the
   * server searches.
   */
  printList<T extends object>(
    fetch: (search: { q?: string }) => Promise<T[]>,
    columns: CliColumn<T>[],
    options: ListOptions,
  ): Promise<void>;
  /** Prints one object: sections for people, the object itself for programs. */
  show<T extends object>(object: T, view: (object: T) => Section[]): void;
  /** Prints an object as `text` says in the forms for people, and as itself for programs. */
  printText(object: object, text: () => string): void;
  /** Follows a task to its end with a live line per step; exits with 1 and the cause when it did not succeed. */
  follow(taskId: string): Promise<void>;
  /** `--project` or the profile's. */
  project(): string | undefined;
  /** A WebSocket below `/api/v1` with the profile's credential and CA. */
  socket(path: string): Promise<import('ws').WebSocket>;
  /**
   * A line for people on standard error, so that standard output holds nothing but the result. Not where programs read.
   */
  info(line: string): void;
  /** Asks before something is destroyed, unless `--yes` was given. Exits with 2 when nobody sits at a terminal. */
  confirm(question: string, yes: boolean | undefined): Promise<boolean>;
  /** A secret, typed without echo; needs a terminal. */
  secret(question: string): Promise<string>;
  /** The first line of standard input. */
  stdinLine(): Promise<string>;
  /** Prints what a verb did: its text on standard error for people, the object for programs. */
  report(outcome: Outcome): void;
  /**
   * Runs `work` for each in turn and prints what it did. One that fails is printed and does not stop the others; the
   * exit code is then that of the first failure.
   */
  each(refs: string[], work: (ref: string) => Promise<Outcome>): Promise<void>;
}

export interface CliRegistrar {
  register(program: import('commander').Command, context: CliContext): void;
}
