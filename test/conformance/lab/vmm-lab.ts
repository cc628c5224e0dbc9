import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SimulationKnobs } from '../../../src/modules/compute/node/drivers/simulated-vmm/knobs';
import {
  profiles,
  type FailureKind,
  type VersionProfile,
} from '../../../src/modules/compute/node/drivers/simulated-vmm/profile';
import { SerialClient } from '../../integration/compute/serial-client';
import type { Subject } from './subject';
import { VmmSession, type Answer, type Answered } from './vmm-session';

export const A = 'Error from API';
export const MiB = 1024 * 1024;
export const GiB = 1024 * MiB;

/** The VMM of one test after the other. Its sessions are closed by `close`. */
export class VmmLab {
  private readonly closing: VmmSession[] = [];
  private current: VmmSession | undefined;
  private readonly earlier: Answered[] = [];

  constructor(readonly subject: Subject) {}

  /** The one opened last. */
  get session(): VmmSession {
    if (!this.current) throw new Error('no session is open');
    return this.current;
  }

  /** A fresh process. `directory`: an earlier session's, to start on its sockets. */
  async open(
    knobs: Partial<SimulationKnobs> = {},
    options: { args?: string[]; directory?: string } = {},
  ): Promise<VmmSession> {
    const session = await VmmSession.program(this.subject.program(knobs), options);
    this.current = session;
    this.closing.push(session);
    return session;
  }

  async close(): Promise<void> {
    for (const one of this.closing.splice(0)) {
      this.earlier.push(...one.answers);
      await one.close();
    }
  }

  /** What all sessions that are closed were answered. */
  answered(): readonly Answered[] {
    return this.earlier;
  }

  profile(): VersionProfile {
    return profiles[this.subject.version];
  }

  /** HTTP status of a kind of failure in the subject's release. */
  status(kind: FailureKind): number {
    return this.profile().statuses[kind] ?? 500;
  }

  /** The reasons, below the device manager, of a disk image that is not there. */
  cannotOpen(path: string): string[] {
    const context = this.profile().namesDiskErrors ? [`I/O error (path=${path} op=open)`] : [];
    return ['Cannot open disk path', ...context, 'No such file or directory (os error 2)'];
  }

  file(name: string, content: string | Buffer = Buffer.alloc(MiB)): string {
    const path = join(this.session.directory, name);
    writeFileSync(path, content);
    return path;
  }

  /** The smallest configuration that boots; its files exist. */
  basic(change: Record<string, unknown> = {}): Record<string, unknown> {
    return {
      payload: { kernel: this.file('kernel', this.subject.guest) },
      console: { mode: 'Off' },
      disks: [{ path: this.file('d.raw'), id: 'd0', image_type: 'Raw' }],
      ...change,
    };
  }

  async create(change: Record<string, unknown> = {}): Promise<void> {
    expect((await this.session.put('vm.create', this.basic(change))).status).toBe(204);
  }

  async run(change: Record<string, unknown> = {}): Promise<void> {
    await this.create(change);
    expect(await this.session.put('vm.boot')).toMatchObject({ status: 204, text: '' });
  }

  /** A configuration's part: the guest's serial port at a socket. */
  serial(): { serial: { mode: string; socket: string } } {
    return { serial: { mode: 'Socket', socket: join(this.session.directory, 's.sock') } };
  }

  /** The guest's console, once it has said that it is ready where that can be heard. */
  async console(): Promise<SerialClient> {
    const client = await SerialClient.connect(join(this.session.directory, 's.sock'));
    if (this.profile().buffersSerial) await client.expect('ready');
    return client;
  }
}

/** The reasons of a refusal, outermost first. */
export const chain = (answer: Answer): string[] => JSON.parse(answer.text) as string[];
export const expectError = (answer: Answer, status: number, reasons: unknown[]): void => {
  expect(chain(answer)).toEqual(reasons);
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toBe('application/json');
};
export const expectTail = (answer: Answer, status: number, ...tail: unknown[]): void => {
  expect(chain(answer).slice(-tail.length)).toEqual(tail);
  expect(answer.status).toBe(status);
};
