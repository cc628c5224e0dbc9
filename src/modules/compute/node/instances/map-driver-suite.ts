import { writeFile } from 'node:fs/promises';
import type { GuestEvent } from '../drivers/guest-event';
import { memoryOf } from '../drivers/common/suspended-memory';
import {
  type CoreDumping,
  resizeHeld,
  resizeNeedsStop,
  type VmCpus,
  type VmHandle,
  type VmMemory,
  type VmSize,
  type VmState,
} from '../drivers/vmm-driver';
import { crashed, poweredOff, type VmExit } from '../drivers/vmm-exit';

/** A driver whose machines are entries of a map; `failStarts` starts fail before one succeeds. */
export class MapDriver {
  readonly kind = 'simulated';
  readonly alive = new Map<string, (exit: VmExit) => void>();
  readonly ended = new Map<string, VmExit>();
  /** Those that are paused. */
  readonly still = new Set<string>();
  /** It cannot be resumed. */
  stuck = false;
  /** How often guests were told the time; an agent of theirs that does not take it. */
  told = 0;
  refusesTime = false;
  /** Its suspends end before the memory is whole, or after. */
  cutSuspend: 'before' | 'after' | null = null;
  /** Of the last start. */
  suspended = false;
  /** A start that fails does so after the machine has run for a moment. */
  ranBeforeFailure = false;
  resets = 0;
  interrupts = 0;
  failStarts = 0;
  /** Who listens to the guests of its machines. */
  readonly guests = new Map<string, (event: GuestEvent) => void>();
  /** Instances in the order of their starts. */
  readonly order: string[] = [];
  /** A start does not end before this does. */
  gate: Promise<void> = Promise.resolve();
  startsNow = 0;
  startsAtMost = 0;
  /** Of the last start. */
  disks: { id: string; path: string; readonly: boolean }[] = [];
  /** Of the machine that was started last. */
  has: VmSize = { vcpus: 0, memoryBytes: 0 };
  /** What of its machines' size has changed, in order; `held` comes first where its guest does not do it. */
  readonly changes: string[] = [];
  /** Parts that its guests do not take, or give back. */
  readonly held = new Set<'vcpus' | 'memory'>();
  /** Called with each change, before it is made. */
  beforeChange: () => void | Promise<void> = () => undefined;
  /** What happens while its memory is dumped. */
  duringDump: (signal: AbortSignal) => void | Promise<void> = () => undefined;
  /** How often it was asked to see a dump out. */
  settled = 0;
  /** Bytes that its guest gave to its balloon. */
  inflated = 0;
  /** Where machines were told to run, in order: at their start, and later. */
  readonly places: { when: 'start' | 'later'; cpus: VmCpus }[] = [];
  /** Threads of its machines are not where they were. */
  drifted = false;
  private started = 0;

  validate(): void {
    return undefined;
  }

  async start(spec: {
    instanceId: string;
    runDir: string;
    logDir: string;
    disks: { id: string; path: string; readonly: boolean }[];
    suspended?: boolean;
    vcpus?: number;
    memoryBytes?: number;
    cpus?: VmCpus;
  }): Promise<VmHandle> {
    if (spec.suspended !== true) this.inflated = 0;
    if (spec.cpus) this.places.push({ when: 'start', cpus: spec.cpus });
    this.has = { vcpus: spec.vcpus ?? 1, memoryBytes: spec.memoryBytes ?? 1 };
    this.disks = spec.disks;
    this.suspended = spec.suspended === true;
    this.order.push(spec.instanceId);
    this.startsNow += 1;
    this.startsAtMost = Math.max(this.startsAtMost, this.startsNow);
    await this.gate;
    this.startsNow -= 1;
    if (this.failStarts > 0) {
      this.failStarts -= 1;
      if (this.ranBeforeFailure) await memoryOf({ ...spec, user: 0 }).use();
      throw new Error('the agent was cut here');
    }
    this.started += 1;
    const startTime = String(this.started);
    this.alive.set(startTime, () => undefined);
    return {
      driver: this.kind,
      instanceId: spec.instanceId,
      process: { pid: 1, startTime },
      user: 0,
      runDir: spec.runDir,
      logDir: spec.logDir,
      startedAt: new Date().toISOString(),
    };
  }

  async state({ process: { startTime } }: VmHandle): Promise<VmState> {
    return !this.alive.has(startTime) ? 'stopped' : this.still.has(startTime) ? 'paused' : 'running';
  }

  async confine(_handle: VmHandle, cpus: VmCpus): Promise<boolean> {
    this.places.push({ when: 'later', cpus });
    const was = this.drifted;
    this.drifted = false;
    return was;
  }

  async pause(handle: VmHandle): Promise<void> {
    this.still.add(handle.process.startTime);
  }

  async resume(handle: VmHandle): Promise<void> {
    if (this.stuck) throw new Error('it does not go on');
    this.still.delete(handle.process.startTime);
  }

  async setClock({ process: { startTime } }: VmHandle): Promise<boolean> {
    if (!this.alive.has(startTime) || this.still.has(startTime)) throw new Error('it does not run');
    this.told += 1;
    if (this.refusesTime) throw new Error('the agent in the guest does not take it');
    return true;
  }

  /** As drivers do: what is kept is marked as whole, then the machine ends. */
  async suspend(handle: VmHandle): Promise<void> {
    const memory = memoryOf(handle);
    await memory.make();
    this.still.add(handle.process.startTime);
    if (this.cutSuspend === 'before') throw new Error('the agent was cut here');
    await memory.complete();
    if (this.cutSuspend === 'after') throw new Error('the agent was cut here');
    await this.kill(handle);
  }

  /** As drivers do: it stands still, and a file has what it told until `duringDump` is over. */
  async coreDump(handle: VmHandle, { path, progress, signal }: CoreDumping): Promise<void> {
    this.still.add(handle.process.startTime);
    await writeFile(path, 'memory', { flag: 'wx' });
    progress(1, 2);
    await this.duringDump(signal);
  }

  async settleCoreDump(handle: VmHandle): Promise<VmState> {
    this.settled += 1;
    return this.state(handle);
  }

  async size(): Promise<VmSize> {
    return { ...this.has };
  }

  /** It has places for four. */
  async checkResize(_handle: VmHandle, { vcpus }: VmSize): Promise<void> {
    if (vcpus > 4) throw resizeNeedsStop('it has places for four');
  }

  async setVcpus(_handle: VmHandle, vcpus: number, _deadlineMs?: number, signal?: AbortSignal): Promise<void> {
    if (vcpus === this.has.vcpus) return;
    await this.change('vcpus', vcpus, signal);
    this.has = { ...this.has, vcpus };
  }

  async setMemory(_handle: VmHandle, memoryBytes: number, _deadlineMs?: number, signal?: AbortSignal): Promise<void> {
    if (memoryBytes === this.has.memoryBytes) return;
    await this.change('memory', memoryBytes, signal);
    this.has = { ...this.has, memoryBytes };
  }

  /** That its balloon was asked to leave its guest, in order. */
  readonly asked: number[] = [];
  /** Its guest does what its balloon is asked for. */
  gives = true;

  async memory(): Promise<VmMemory> {
    const { memoryBytes: bytes } = this.has;
    return { bytes, heldBytes: bytes - this.inflated, guest: null };
  }

  async setBalloon(_handle: VmHandle, bytes: number): Promise<void> {
    await this.beforeChange();
    this.asked.push(bytes);
    // What its balloon holds it takes back at once.
    const wanted = this.has.memoryBytes - bytes;
    if (this.gives || wanted < this.inflated) this.inflated = wanted;
  }

  private async change(part: 'vcpus' | 'memory', to: number, signal?: AbortSignal): Promise<void> {
    await this.beforeChange();
    signal?.throwIfAborted();
    if (this.held.has(part)) {
      this.changes.push(`held ${part} ${to}`);
      throw resizeHeld(`do ${part}`);
    }
    this.changes.push(`${part} ${to}`);
  }

  async reset(): Promise<void> {
    this.resets += 1;
  }

  async nmi(): Promise<void> {
    this.interrupts += 1;
  }

  async powerButton(handle: VmHandle): Promise<void> {
    this.end(handle.process.startTime, poweredOff(true));
  }

  async kill(handle: VmHandle): Promise<void> {
    this.alive.delete(handle.process.startTime);
    this.still.delete(handle.process.startTime);
  }

  waitExit(handle: VmHandle, _signal?: AbortSignal, tell?: (event: GuestEvent) => void): Promise<VmExit> {
    if (tell) this.guests.set(handle.process.startTime, tell);
    const known = this.ended.get(handle.process.startTime);
    if (known) return Promise.resolve(known);
    if (!this.alive.has(handle.process.startTime)) return Promise.resolve(crashed('unknown', 'unknown machine'));
    return new Promise((resolve) => this.alive.set(handle.process.startTime, resolve));
  }

  serialSocket(): string {
    return '';
  }

  /** The machine that was started last. */
  get newest(): string {
    return [...this.alive.keys()].at(-1) ?? '';
  }

  end(startTime: string, exit: VmExit): void {
    const tell = this.alive.get(startTime);
    this.alive.delete(startTime);
    this.ended.set(startTime, exit);
    tell?.(exit);
  }
}
