import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseEvents, type ChEvent } from '../../../src/modules/compute/node/drivers/cloud-hypervisor/ch-events';

export interface Answer {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  text: string;
}

/** How a process ended: an exit code or a signal. */
export type ProcessEnd = number | NodeJS.Signals;

/** A request, and what came of it. */
export interface Answered extends Answer {
  request: string;
}

/** A VMM to be asked: its socket, its process, its events. */
export class VmmSession {
  readonly socket: string;
  /** All that was answered so far, but for what `raw` asked. */
  readonly answers: Answered[] = [];
  private readonly eventFile: string;

  private constructor(
    readonly directory: string,
    readonly pid: number,
    readonly ended: Promise<ProcessEnd>,
    private readonly stop: () => Promise<void>,
    readonly errors: () => string,
  ) {
    this.socket = join(directory, 'api.sock');
    this.eventFile = join(directory, 'events');
  }

  /**
   * A program with Cloud Hypervisor's command line, real or simulated. `directory`: an earlier session's, to start on
   * its sockets.
   */
  static async program(path: string, options: { args?: string[]; directory?: string } = {}): Promise<VmmSession> {
    const directory = options.directory ?? (await mkdtemp('/tmp/t-vmm-conf-'));
    const child = spawn(
      path,
      [
        '--api-socket',
        `path=${join(directory, 'api.sock')}`,
        '--event-monitor',
        `path=${join(directory, 'events')}`,
        ...(options.args ?? []),
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const ended = new Promise<ProcessEnd>((resolve) =>
      child.once('close', (code, signal) => resolve(signal ?? code ?? 1)),
    );
    const session = new VmmSession(
      directory,
      child.pid ?? 0,
      ended,
      async () => {
        child.kill('SIGKILL');
        await ended;
      },
      () => errors,
    );
    await session.listening(ended);
    return session;
  }

  async get(endpoint: string): Promise<Answer> {
    return this.ask('GET', `/api/v1/${endpoint}`, null);
  }

  async put(endpoint: string, body: unknown = null): Promise<Answer> {
    return this.ask(
      'PUT',
      `/api/v1/${endpoint}`,
      body === null ? null : typeof body === 'string' ? body : JSON.stringify(body),
    );
  }

  ask(method: string, path: string, body: string | null): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          socketPath: this.socket,
          method,
          path,
          agent: false,
          headers: body === null ? {} : { 'Content-Length': Buffer.byteLength(body) },
        },
        (incoming) => {
          let text = '';
          incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          incoming.once('end', () => {
            const answer = { status: incoming.statusCode ?? 0, headers: incoming.headers, text };
            this.answers.push({ ...answer, request: `${method} ${path}` });
            resolve(answer);
          });
        },
      );
      outgoing.once('error', reject);
      outgoing.end(body ?? undefined);
    });
  }

  /** Sends bytes, if any, and returns what came back until `quietMs` passed without more. */
  raw(bytes: string, quietMs = 150): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.socket, () => void (bytes !== '' && socket.write(bytes)));
      let text = '';
      const done = (): void => {
        socket.destroy();
        resolve(text);
      };
      let timer = setTimeout(done, 2000);
      socket.once('error', reject);
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk;
        clearTimeout(timer);
        timer = setTimeout(done, quietMs);
      });
      socket.once('end', done);
    });
  }

  async info(): Promise<
    Record<string, unknown> & {
      state: string;
      config: Record<string, never>;
      device_tree?: Record<string, { pci_bdf?: string }>;
    }
  > {
    return JSON.parse((await this.get('vm.info')).text) as never;
  }

  events(): ChEvent[] {
    return parseEvents(this.eventText());
  }

  eventText(): string {
    return readFileSync(this.eventFile, 'utf8');
  }

  /** Waits until an event is there, at most twenty seconds. */
  async event(name: string): Promise<ChEvent> {
    const find = (): ChEvent | undefined => this.events().find((event) => `${event.source}/${event.event}` === name);
    await this.until(
      () => find() !== undefined,
      () => `no event ${name}`,
    );
    const found = find();
    if (!found) throw new Error(`event ${name} is gone`);
    return found;
  }

  /** Waits until these are the last events, at most twenty seconds: they are written beside the answers. */
  async lastEvents(...names: string[]): Promise<void> {
    const last = (): string => this.eventNames().slice(-names.length).join(' ');
    await this.until(
      () => last() === names.join(' '),
      () => `the last events are not ${names.join(' ')}`,
    );
  }

  eventNames(): string[] {
    return this.events().map((event) => `${event.source}/${event.event}`);
  }

  /** Ends the process without touching its folder. */
  async kill(): Promise<void> {
    await this.stop();
  }

  async close(): Promise<void> {
    await this.stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  private async until(met: () => boolean, complaint: () => string): Promise<void> {
    const end = Date.now() + 20_000;
    while (!met()) {
      if (Date.now() > end) throw new Error(`${complaint()}: ${this.eventNames().join(' ')}`);
      await delay(5);
    }
  }

  private async listening(ended: Promise<ProcessEnd>): Promise<void> {
    let over = false;
    void ended.then(() => (over = true));
    const end = Date.now() + 20_000;
    while (!over && Date.now() < end) {
      const answered = await this.get('vmm.ping').then(
        () => true,
        () => false,
      );
      if (answered) return;
      await delay(20);
    }
  }
}
