import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SimulationKnobs } from '../../../src/modules/compute/node/drivers/simulated-vmm/knobs';
import {
  profiles,
  type FailureKind,
  type VersionProfile,
} from '../../../src/modules/compute/node/drivers/simulated-vmm/profile';
import { pvhGuest } from './pvh-guest';
import { VmmSession, type Answer } from './vmm-session';

export const A = 'Error from API';
export const MiB = 1024 * 1024;
export const GiB = 1024 * MiB;

/** Whose answers are compared: the simulation of one release, or a real Cloud Hypervisor. */
export interface Subject {
  name: string;
  version: VersionProfile['name'];
  open: (knobs: Partial<SimulationKnobs>, stay: boolean) => Promise<VmmSession>;
  /** Behaviour can be asked for by knobs. */
  simulated: boolean;
  /** Guests run, and answer on their console. */
  guests: boolean;
}

/** The VMM of one test after the other. Its sessions are closed by `close`. */
export class VmmLab {
  private readonly closing: VmmSession[] = [];
  private current: VmmSession | undefined;

  constructor(private readonly subject: Pick<Subject, 'version' | 'open'>) {}

  /** The one opened last. */
  get session(): VmmSession {
    if (!this.current) throw new Error('no session is open');
    return this.current;
  }

  async open(knobs: Partial<SimulationKnobs> = {}, stay = false): Promise<VmmSession> {
    return this.keep(await this.subject.open(knobs, stay));
  }

  /** Makes a session that the test opened the lab's. */
  keep(session: VmmSession): VmmSession {
    this.current = session;
    this.closing.push(session);
    return session;
  }

  async close(): Promise<void> {
    for (const one of this.closing.splice(0)) await one.close();
  }

  profile(): VersionProfile {
    return profiles[this.subject.version];
  }

  /** HTTP status of a kind of failure in the subject's release. */
  status(kind: FailureKind): number {
    return this.profile().statuses[kind] ?? 500;
  }

  file(name: string, content: string | Buffer = Buffer.alloc(MiB)): string {
    const path = join(this.session.directory, name);
    writeFileSync(path, content);
    return path;
  }

  /** The smallest configuration that boots; its files exist. */
  basic(change: Record<string, unknown> = {}): Record<string, unknown> {
    return {
      payload: { kernel: this.file('kernel', pvhGuest()) },
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
