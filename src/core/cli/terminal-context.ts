import type { WebSocket } from 'ws';
import type { ApiSession } from './api-session';
import type { CliColumn, CliContext } from './cli-context';
import { CliFailure, exitCodes } from './cli-failure';
import { describeFailure } from './error-printer';
import { configPath, pickProfile, ProfileStore } from './profile-store';
import type { OutputFormat } from './output-format';
import type * as renderer from './renderer';
import type { Query } from './rest-client';

export interface GlobalOptions {
  profile?: string;
  project?: string;
  output: OutputFormat;
}

const pageSize = 200;
const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The client of one run of `vcctl`. What a command does not use is not loaded. */
export class TerminalContext implements CliContext {
  readonly store: ProfileStore;
  private options: GlobalOptions = { output: 'table' };
  private opened: Promise<ApiSession> | undefined;
  private profileProject: string | undefined;
  private renderer: typeof renderer | undefined;

  constructor(private readonly env: NodeJS.ProcessEnv) {
    this.store = new ProfileStore(configPath(env));
  }

  /** Called once before the command's action, when the command line is known. */
  async prepare(options: GlobalOptions): Promise<void> {
    this.options = options;
    const [loaded, file] = await Promise.all([import('./renderer.js'), this.store.load()]);
    this.renderer = loaded;
    const name = this.profileName();
    this.profileProject = file.profiles.find((p) => p.name === (name ?? file.current))?.project;
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

  async request<T>(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, options: { body?: unknown; query?: Query; idempotencyKey?: string } = {}): Promise<T> {
    const session = await this.session();
    return session.call<T>(() => ({ method, path, ...options }));
  }

  async upload<T>(method: 'PUT' | 'POST', path: string, file: string): Promise<T> {
    const { uploadFile } = await import('./upload.js');
    return uploadFile<T>(await this.session(), method, path, file);
  }

  async list<T>(path: string, query: Query = {}, limit = 10_000): Promise<T[]> {
    const items: T[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.request<{ items: T[]; next: string | null }>('GET', path, { query: { ...query, limit: Math.min(pageSize, limit - items.length), cursor } });
      items.push(...page.items);
      cursor = page.next ?? undefined;
    } while (cursor !== undefined && items.length < limit);
    if (cursor !== undefined) this.info(`Only the first ${limit} are shown.`);
    return items;
  }

  async find<T extends { id: string }>(path: string, noun: string, ref: string): Promise<T> {
    if (idPattern.test(ref)) return this.request<T>('GET', `${path}/${ref.toLowerCase()}`);
    const found = (await this.list<T & { name?: string }>(path, { project: this.project() }, Number.MAX_SAFE_INTEGER)).filter((item) => item.name === ref);
    const [first, second] = found;
    if (!first) throw new CliFailure(`There is no ${noun} "${ref}".`, { exitCode: exitCodes.notFound, code: 'not_found' });
    if (second) {
      throw new CliFailure(`Several ${noun}s are named "${ref}": ${found.map((f) => f.id).join(', ')}.`, { exitCode: exitCodes.usage, code: 'ambiguous_name', hint: 'Name it by its id, or narrow with --project.' });
    }
    return first;
  }

  print<T extends object>(rows: T[], columns: CliColumn<T>[]): void {
    const text = this.loaded().renderRows(rows, columns, this.options.output);
    if (text === '' && this.options.output !== 'name') this.info('Nothing found.');
    process.stdout.write(text);
  }

  printOne(object: object): void {
    process.stdout.write(this.loaded().renderOne(object, this.options.output));
  }

  printText(object: object, text: () => string): void {
    const people = this.options.output === 'table' || this.options.output === 'wide';
    if (people) process.stdout.write(text());
    else this.printOne(object);
  }

  async follow(taskId: string): Promise<void> {
    const { followTask } = await import('./task-follower.js');
    // Where standard output is for programs, the steps go beside it.
    const stream = this.options.output === 'table' || this.options.output === 'wide' ? process.stdout : process.stderr;
    await followTask(this, taskId, { live: stream.isTTY === true, columns: stream.columns, write: (text) => void stream.write(text) });
  }

  async socket(path: string): Promise<WebSocket> {
    const { openSocket } = await import('./web-socket.js');
    return openSocket(await this.session(), path);
  }

  info(line: string): void {
    process.stderr.write(`${line}\n`);
  }

  async confirm(question: string): Promise<boolean> {
    if (!process.stdin.isTTY) return true;
    const { confirm } = await import('./prompt.js');
    return confirm(question);
  }

  async secret(question: string): Promise<string> {
    const { ask, requireTerminal } = await import('./prompt.js');
    requireTerminal('Use the option that reads it from standard input.');
    return ask(question, { hidden: true });
  }

  async stdinLine(): Promise<string> {
    const { readLine } = await import('./prompt.js');
    return readLine();
  }

  async each(refs: string[], work: (ref: string) => Promise<void>): Promise<void> {
    let exitCode = 0;
    for (const ref of refs) {
      try {
        await work(ref);
      } catch (error) {
        const described = describeFailure(error);
        for (const line of described.lines) this.info(refs.length > 1 && line.startsWith('error: ') ? `error: ${ref}: ${line.slice(7)}` : line);
        if (exitCode === 0) exitCode = described.exitCode;
      }
    }
    if (exitCode !== 0) throw new CliFailure('some failed', { exitCode, code: 'failed', silent: true });
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

  private async open(): Promise<ApiSession> {
    const [{ ApiSession: Session }, file] = await Promise.all([import('./api-session.js'), this.store.load()]);
    return new Session(this.store, pickProfile(file, this.profileName()));
  }

  private loaded(): typeof renderer {
    if (!this.renderer) throw new Error('prepare() comes before any output');
    return this.renderer;
  }
}
