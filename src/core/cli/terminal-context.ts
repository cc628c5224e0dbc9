import type { Command } from 'commander';
import type { WebSocket } from 'ws';
import type { ApiSession } from './session/api-session';
import type { CliContext, Outcome, RequestOptions } from './cli-context';
import type { CliColumn } from './output/cli-column';
import { CliFailure, usageFailure } from './cli-failure';
import { printFailure } from './output/error-printer';
import type { findByPath } from './output/json-path';
import type { ListOptions } from './input/list-options';
import type { Noun } from './noun';
import { forPeople, type OutputFormat } from './output/output-format';
import { configPath, pickProfile, ProfileStore } from './session/profile-store';
import { findInList, resolveRef } from './input/ref-resolver';
import type * as renderer from './output/renderer';
import type { Page } from '../http/routes/pagination';
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
import { filledPath } from '../../rest/rest-target';
import type { Query } from './session/rest-client';
import { sectionsText, type Section } from './output/sections';
import type { Fit } from './output/table';

export interface GlobalOptions {
  profile?: string;
  project?: string;
  output: OutputFormat;
}

const pageSize = 200;
const upperCase = (method: Method): Uppercase<Method> => method.toUpperCase() as Uppercase<Method>;

/** The client of one run of `vcctl`. What a command does not use is not loaded. */
export class TerminalContext implements CliContext {
  readonly store: ProfileStore;
  readonly nouns = new Map<string, Noun>();
  private options: GlobalOptions = { output: { kind: 'table' } };
  private opened: Promise<ApiSession> | undefined;
  private profileProject: string | undefined;
  /** The project's name or id, once the beginning of its id was looked up. */
  private foundProject: Promise<string> | undefined;
  private renderer: typeof renderer | undefined;
  private findByPath: typeof findByPath | undefined;
  /** The command that runs: what its options are called is what its errors speak of. */
  private command: Command | undefined;

  constructor(readonly env: NodeJS.ProcessEnv) {
    this.store = new ProfileStore(configPath(env));
  }

  /** Called once before the command's action, when the command line is known. */
  async prepare(options: GlobalOptions, command?: Command): Promise<void> {
    this.options = options;
    this.command = command;
    const [loaded, file] = await Promise.all([import('./output/renderer.js'), this.store.load()]);
    this.renderer = loaded;
    if (options.output.kind === 'jsonpath') this.findByPath = (await import('./output/json-path.js')).findByPath;
    const name = this.profileName();
    this.profileProject = file.profiles.find((p) => p.name === (name ?? file.current))?.project;
  }

  /** True once the output is set up. */
  get prepared(): boolean {
    return this.renderer !== undefined;
  }

  /** `--profile` or `VCCTL_PROFILE`. */
  profileName(): string | undefined {
    return this.options.profile ?? (this.env['VCCTL_PROFILE'] || undefined);
  }

  /** `--project` or `VCCTL_PROJECT`. */
  explicitProject(): string | undefined {
    return this.options.project ?? (this.env['VCCTL_PROJECT'] || undefined);
  }

  project(): string | undefined {
    return this.explicitProject() ?? this.profileProject;
  }

  request<M extends Method, P extends PathWith<M>>(method: M, path: P, ...[init]: Init<M, P>): Promise<AnswerOf<M, P>> {
    const { path: parameters, ...rest } = (init ?? {}) as RequestOptions & { path?: Record<string, string> };
    return this.requestAt(upperCase(method), filledPath(path, parameters), rest);
  }

  async requestAt<T>(method: Uppercase<Method>, path: string, options: RequestOptions = {}): Promise<T> {
    const session = await this.session();
    const query = await this.withProject(options.query);
    return session.call<T>(() => ({ method, path, ...options, ...(query && { query }) }));
  }

  /** The project may be named by the beginning of its id, as any other object. */
  private async withProject(query: Query | undefined): Promise<Query | undefined> {
    const asked = this.project();
    if (asked === undefined || query?.['project'] !== asked) return query;
    this.foundProject ??= this.resolve('project', asked);
    return { ...query, project: await this.foundProject };
  }

  async upload<P extends PathWith<'put'>>(
    path: P,
    parameters: PathOf<'put', P>,
    file: string,
  ): Promise<AnswerOf<'put', P>> {
    const { uploadFile } = await import('./session/upload.js');
    return uploadFile(await this.session(), filledPath(path, parameters as Record<string, string>), file);
  }

  async download<P extends PathWith<'get'>>(
    path: P,
    parameters: PathOf<'get', P>,
    asked?: QueryOf<'get', P>,
  ): Promise<Buffer> {
    const session = await this.session();
    const filled = filledPath(path, parameters as Record<string, string>);
    const query = await this.withProject(asked as Query | undefined);
    return session.call<Buffer>(() => ({ method: 'GET', path: filled, asBytes: true, ...(query && { query }) }));
  }

  async downloadTo<P extends PathWith<'get'>>(
    path: P,
    parameters: PathOf<'get', P>,
    file: string,
    options: { query?: QueryOf<'get', P>; resume?: boolean } = {},
  ): Promise<number> {
    const { downloadFile } = await import('./session/download.js');
    const query = await this.withProject(options.query as Query | undefined);
    const filled = filledPath(path, parameters as Record<string, string>);
    return downloadFile(await this.session(), filled, query, file, { resume: options.resume === true });
  }

  list<P extends ListPath>(path: P, ...[init]: ListInit<P, { limit?: number }>): Promise<ItemOf<P>[]> {
    const given = (init ?? {}) as { path?: Record<string, string>; query?: Query; limit?: number };
    return this.listAt(filledPath(path, given.path), given.query, given.limit);
  }

  async listAt<T>(path: string, query: Query = {}, limit = 10_000): Promise<T[]> {
    const items: T[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.requestAt<Page<T>>('GET', path, {
        query: { ...query, limit: Math.min(pageSize, limit - items.length), cursor },
      });
      items.push(...page.items);
      cursor = page.next ?? undefined;
    } while (cursor !== undefined && items.length < limit);
    if (cursor !== undefined) this.info(`Only the first ${limit} are shown.`);
    return items;
  }

  addNoun(noun: Noun): void {
    this.nouns.set(noun.name, noun);
  }

  noun(name: string): Noun {
    const noun = this.nouns.get(name);
    if (!noun) throw new Error(`no module has the noun ${name}`);
    return noun;
  }

  resolve(noun: string, ref: string): Promise<string> {
    return resolveRef(this, this.noun(noun), ref);
  }

  async pathOf(noun: string, ref: string): Promise<string> {
    return `${this.noun(noun).path}/${encodeURIComponent(await this.resolve(noun, ref))}`;
  }

  async get<T extends { id: string }>(name: string, ref: string): Promise<T> {
    const noun = this.noun(name);
    if (noun.listOnly) return findInList<T & { name?: string }>(this, noun, ref);
    return this.requestAt<T>(
      'GET',
      await this.pathOf(name, ref),
      noun.inProject ? { query: { project: this.project() } } : {},
    );
  }

  print<T extends object>(rows: T[], columns: CliColumn<T>[], options: ListOptions = {}): void {
    if (this.people()) {
      const { text, leftOut } = this.loaded().renderTable(rows, columns, this.options.output, options, this.fit());
      if (text === '') this.info('Nothing found.');
      process.stdout.write(text);
      if (leftOut.length > 0) this.info(`No room for ${leftOut.join(', ')}: choose with --columns.`);
    } else process.stdout.write(this.data(rows));
  }

  async printList<T extends object>(
    fetch: (search: { q?: string }) => Promise<T[]>,
    columns: CliColumn<T>[],
    options: ListOptions,
  ): Promise<void> {
    const { searchOf, shapeRows } = await import('./input/list-options.js');
    const rows = async (): Promise<T[]> => shapeRows(await fetch(searchOf(options)), columns, options);
    if (!options.watch) return this.print(await rows(), columns, options);
    const { watchRows } = await import('./output/watch-rows.js');
    await watchRows(rows, {
      text: this.people()
        ? (shown, headers) =>
            this.loaded().renderTable(
              shown,
              columns,
              this.options.output,
              { ...options, headers: headers && options.headers !== false },
              this.fit(),
            ).text
        : undefined,
      live: this.people() && process.stdout.isTTY === true,
      write: (text) => void process.stdout.write(text),
    });
  }

  show<T extends object>(object: T, view: (object: T) => Section[]): void {
    this.printText(object, () => sectionsText(view(object), this.fit()));
  }

  printText(object: object, text: () => string): void {
    process.stdout.write(this.people() ? text() : this.data(object));
  }

  async follow(taskId: string): Promise<void> {
    const { followTask } = await import('./output/task-follower.js');
    // Where standard output is for programs, the steps go beside it, and only if somebody looks: standard error is then
    // for the error alone.
    const stream = this.people() ? process.stdout : process.stderr;
    const shown = this.people() || stream.isTTY === true;
    await followTask(this, taskId, {
      live: stream.isTTY === true,
      columns: stream.columns,
      write: (text) => void (shown && stream.write(text)),
    });
  }

  async socket(path: string): Promise<WebSocket> {
    const { openSocket } = await import('./session/web-socket.js');
    return openSocket(await this.session(), path);
  }

  info(line: string): void {
    if (this.people() || process.stderr.isTTY) process.stderr.write(`${line}\n`);
  }

  async confirm(question: string, yes: boolean | undefined): Promise<boolean> {
    if (yes) return true;
    if (!process.stdin.isTTY) throw usageFailure(`nobody can be asked "${question}" without a terminal: add --yes`);
    const { confirm } = await import('./input/prompt.js');
    return confirm(question);
  }

  async secret(question: string): Promise<string> {
    const { ask, requireTerminal } = await import('./input/prompt.js');
    requireTerminal('Use the option that reads it from standard input.');
    return ask(question, { hidden: true });
  }

  async stdinLine(): Promise<string> {
    const { readLine } = await import('./input/prompt.js');
    return readLine();
  }

  report({ text, object }: Outcome): void {
    if (this.people()) process.stderr.write(`${text}\n`);
    else process.stdout.write(this.data(object));
  }

  async each(refs: string[], work: (ref: string) => Promise<Outcome>): Promise<void> {
    let exitCode = 0;
    const done: object[] = [];
    for (const ref of refs) {
      try {
        const { text, object } = await work(ref);
        done.push(object);
        if (this.people()) process.stderr.write(`${text}\n`);
      } catch (error) {
        const code = this.fail(error, refs.length > 1 ? ref : undefined);
        if (exitCode === 0) exitCode = code;
      }
    }
    // One reference gives the object, several give a list: also where only one of them went well.
    const [first] = done;
    if (!this.people() && first) process.stdout.write(this.data(refs.length > 1 ? done : first));
    if (exitCode !== 0) throw new CliFailure('some failed', { exitCode, code: 'failed', silent: true });
  }

  /**
   * Prints a failure as the output format wants it and returns its exit code. `ref` is the object that it is about, of
   * several.
   */
  fail(error: unknown, ref?: string): number {
    return printFailure(error, this.options.output, {
      ...(this.command && { command: this.command }),
      ...(ref !== undefined && { ref }),
    });
  }

  /** The logged-in session of the chosen profile. Throws exit code 3 when there is none. */
  session(): Promise<ApiSession> {
    this.opened ??= this.open();
    return this.opened;
  }

  /** Lets the process end: closes idle connections. */
  async close(): Promise<void> {
    const session = await this.opened?.catch(() => undefined);
    session?.client.close();
  }

  /** An object or a list for programs. */
  private data(value: object): string {
    return this.loaded().renderData(value, this.options.output, this.findByPath);
  }

  private people(): boolean {
    return forPeople(this.options.output);
  }

  /** What standard output can show. `NO_COLOR` (no-color.org) switches colours off. */
  private fit(): Fit {
    const { isTTY, columns } = process.stdout;
    const colour = isTTY === true && !this.env['NO_COLOR'] && this.env['TERM'] !== 'dumb';
    return { width: isTTY && columns > 0 ? columns : undefined, colour };
  }

  private async open(): Promise<ApiSession> {
    const [{ ApiSession: Session }, file] = await Promise.all([import('./session/api-session.js'), this.store.load()]);
    return new Session(this.store, pickProfile(file, this.profileName()));
  }

  private loaded(): typeof renderer {
    if (!this.renderer) throw new Error('prepare() comes before any output');
    return this.renderer;
  }
}
