import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseEvents, type ChEvent } from '../../../src/modules/compute/node/drivers/cloud-hypervisor/ch-events';
import { answer } from '../../../src/modules/compute/node/drivers/simulated-vmm/api';
import { EventMonitor } from '../../../src/modules/compute/node/drivers/simulated-vmm/event-monitor';
import { defaultKnobs, type SimulationKnobs } from '../../../src/modules/compute/node/drivers/simulated-vmm/knobs';
import { profiles } from '../../../src/modules/compute/node/drivers/simulated-vmm/profile';
import { SimulatedVmm, type VmmEnd } from '../../../src/modules/compute/node/drivers/simulated-vmm/simulated-vmm';
import { WireServer } from '../../../src/modules/compute/node/drivers/simulated-vmm/wire-server';

export interface Answer {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  text: string;
}

/** A VMM to be asked: its socket, its process, its events. */
export class VmmSession {
  readonly socket: string;
  private readonly eventFile: string;

  private constructor(
    readonly directory: string,
    readonly pid: number,
    readonly ended: Promise<VmmEnd>,
    private readonly stop: () => Promise<void>,
    readonly errors: () => string,
  ) {
    this.socket = join(directory, 'api.sock');
    this.eventFile = join(directory, 'events');
  }

  /** The simulation inside this process: fast, the same code. */
  static async inProcess(knobs: Partial<SimulationKnobs> = {}, stay = false): Promise<VmmSession> {
    const directory = await mkdtemp('/tmp/t-vmm-conf-');
    const fd = openSync(join(directory, 'events'), 'w');
    const all = { ...defaultKnobs, ...knobs };
    let finish: (how: VmmEnd) => void = () => undefined;
    const ended = new Promise<VmmEnd>((resolve) => (finish = resolve));
    const vmm = new SimulatedVmm(all, new EventMonitor(fd, () => all.eventLoss), {
      end: (how) => void server.close().then(() => finish(how)),
      stay,
    });
    const server = new WireServer((wire) => answer(vmm, wire), {
      bodyLimit: profiles[all.version].bodyLimit,
      methods: profiles[all.version].methods,
      stalled: () => all.stalled,
    });
    const session = new VmmSession(
      directory,
      process.pid,
      ended,
      async () => {
        vmm.end(0);
        await ended;
        await vmm.closeConsoles();
        closeSync(fd);
      },
      () => '',
    );
    await server.listen(session.socket);
    return session;
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
    const ended = new Promise<VmmEnd>((resolve) => child.once('close', (code, signal) => resolve(signal ?? code ?? 1)));
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
          incoming.once('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }));
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
    const end = Date.now() + 20_000;
    for (;;) {
      const found = this.events().find((event) => `${event.source}/${event.event}` === name);
      if (found) return found;
      if (Date.now() > end) throw new Error(`no event ${name} in ${this.eventNames().join(' ')}`);
      await delay(5);
    }
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

  private async listening(ended: Promise<VmmEnd>): Promise<void> {
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
