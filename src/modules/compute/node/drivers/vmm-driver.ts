import type { Socket } from 'node:net';
import { confineThreads, type Thread } from '../../../../core/host/cpus/affinity';
import { isRunning } from '../../../../core/host/processes/process-identity';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import type { VmmInventory } from '../../contract/vmm.inventory';
import type { AskedOfHardware } from '../../contract/hardware';
import type { CoreDumpFormat } from '../../contract/core-dump-formats';
import type { Limits, NicLimits } from '../../contract/limits';
import type { AskedOfMachine } from '../../contract/machine-options';
import type { GuestEvent } from './guest-event';
import type { VmExit } from './vmm-exit';

/** The two firmwares that images are made for. */
export type Firmware = 'bios' | 'uefi';

/** A network card: its tap is there, in the VMM's namespace. */
export interface VmNic {
  id: string;
  tap: string;
  mac: string;
  mtu: number;
  /** How fast it is, each direction by itself. Absent: as fast as it goes. */
  limit?: NicLimits;
}

/** A disk image on this host. */
export interface VmDisk {
  id: string;
  path: string;
  format: 'raw';
  readonly: boolean;
  /** It may come and go while the machine runs, and lies in one of the machine's `diskFolders`. */
  detachable?: boolean;
}

/** A directory of this host that its guest mounts by its tag. */
export interface VmShare {
  /** At most 36 bytes. */
  tag: string;
  /** Of a directory, without a link in it. */
  path: string;
  readonly: boolean;
  /** Who the directory belongs to: by these rights its guest reads and writes. */
  user: number;
  group: number;
}

/** A kernel of Linux on this host: its files, readable for all, and what it is told. */
export interface VmKernel {
  path: string;
  initramfs: string | null;
  commandLine: string;
}

/** How much a machine has. Memory in bytes. */
export interface VmSize {
  vcpus: number;
  memoryBytes: number;
}

/** What is known of a machine's memory, in bytes. */
export interface VmMemory {
  /** That it has of its VMM. */
  bytes: number;
  /** That its guest keeps: without what is in the balloon. */
  heldBytes: number;
  /** What the guest says of itself, and when; null where nobody does. */
  guest: { totalBytes: number; freeBytes: number; availableBytes: number; at: string } | null;
}

/** Where a machine runs on its host, by the numbers of its CPUs. */
export interface VmCpus {
  /** Each vCPU has one for itself, in the order of the vCPUs. Null: it shares. */
  own: readonly number[] | null;
  /** What is no vCPU of its own runs on these, in order. */
  process: readonly number[];
  /**
   * NUMA nodes that its guest sees, in their order, with the node of the host on which each lies. Absent: one, and its
   * memory wherever there is some. Memory in bytes.
   */
  nodes?: readonly { hostNode: number; vcpus: number; memoryBytes: number }[];
}

/** Everything a VMM needs to run one instance. Sizes in bytes, paths absolute. */
export interface VmSpec {
  instanceId: string;
  name: string;
  vcpus: number;
  memoryBytes: number;
  /** The most that it may get while it runs. Absent: it stays as it is. */
  max?: VmSize;
  disks: VmDisk[];
  /** Where detachable disks appear, also while it runs: the VMM sees these folders, and can change nothing in them. */
  diskFolders?: readonly string[];
  nics: VmNic[];
  /** It boots by this kernel instead of what is on its disks; the VMM may read both files and no more. */
  kernel?: VmKernel;
  /** What boots the disk; absent: whatever this VMM boots with. */
  firmware?: Firmware;
  /** Its options that are on; nothing is said of the others. */
  machine?: AskedOfMachine;
  /** How fast its disks are, all together; each card has its own limit. Absent: as fast as they go. */
  limits?: Limits;
  /** What its memory and vCPUs are. Absent: as this VMM does by itself. */
  hardware?: AskedOfHardware;
  /** Where it runs. Absent: wherever its host has it run. */
  cpus?: VmCpus;
  /** Directories of the host; its memory is shared then. Absent: none. */
  shares?: readonly VmShare[];
  /** Network namespace of the VMM process (`ip netns` name); null for the host's. */
  netns: string | null;
  /** User (and group) id that the VMM runs as, this instance's alone; no account of the host. */
  user: number;
  /** Own folder for sockets and what is known of the VM's end (short path: Unix sockets allow 107 bytes). */
  runDir: string;
  /** Own folder for logs, and for what the machine keeps between its starts. */
  logDir: string;
  /** It goes on from what `suspend` kept in its log folder, instead of booting. */
  suspended?: boolean;
}

/**
 * What identifies the VMM process across restarts of the agent: pid and start time must both agree before anything is
 * signalled.
 */
interface VmProcess {
  pid: number;
  /** Field 22 of /proc/<pid>/stat, in clock ticks since boot. */
  startTime: string;
}

/** Persisted by the caller after `start` and handed to every other call, also after an agent restart. */
export interface VmHandle {
  driver: string;
  instanceId: string;
  process: VmProcess;
  /** That the VMM runs as. 0: of a build that ran VMMs as root, or no process at all. */
  user: number;
  runDir: string;
  logDir: string;
  startedAt: string;
  /** Programs beside the VMM that its machine needs, with what they are for people. Absent: none. */
  beside?: { name: string; process: VmProcess }[];
}

export type VmState = 'running' | 'paused' | 'stopped';

/** Of a VM without a screen; says why, and what helps. */
export const noScreen = (why: string): VerbFailure => new VerbFailure('no_screen', why, true);

/** Of a VM whose memory cannot be dumped; says why. */
export const noCoreDump = (why: string): VerbFailure => new VerbFailure('no_core_dump', why, true);

/** A core dump that is to be made. */
export interface CoreDumping {
  format: CoreDumpFormat;
  /** Where it is to lie: in the machine's log folder or below. Nothing lies there yet; the file is root's alone. */
  path: string;
  /** Bytes that it has at most: a VMM that was taken over may tell more than a machine has. */
  limit: number;
  /** Hears how far it is, in bytes of the guest's memory. */
  progress: (done: number, total: number) => void;
  /** Ends it. */
  signal: AbortSignal;
}

/** Of a VM that did not come to the state that was asked for. */
export const notInState = (state: VmState, wanted: VmState): VerbFailure =>
  state === 'stopped'
    ? new VerbFailure('not_running', 'The VM is not running.', true)
    : new VerbFailure('vmm_refused', `The VM is ${state} although it was to be ${wanted}.`, false);

/** Of a guest that was asked to let a card go and did not: it has it still. */
export const deviceHeld = (): VerbFailure =>
  new VerbFailure('device_held', 'Its guest did not let the device go in time, and has it still.', true);

/** Of a VM that an older build started in such a way that nothing can be plugged into it. */
export const noHotplug = (detail: string, cause?: unknown): VerbFailure =>
  new VerbFailure(
    'no_hotplug',
    'It was started by an older release, with no place for another device: restart it.',
    true,
    {},
    { detail, cause },
  );

/** Of a VM that cannot get that size while it runs; says why. Nothing was touched. */
export const resizeNeedsStop = (why: string, cause?: unknown): VerbFailure =>
  new VerbFailure(
    'resize_needs_stop',
    `It cannot get this size while it runs: ${why}. Stop it first.`,
    true,
    {},
    { cause },
  );

/** Of a guest that did not take, or give, what it was to in time. */
export const resizeHeld = (what: string): VerbFailure =>
  new VerbFailure('resize_held', `Its guest did not ${what} in time.`, true);

/** Of a VM whose guest is reached by its network alone. */
export const noVsock = (): VerbFailure =>
  new VerbFailure('no_vsock', 'Its machine has no vsock, which an instance gets with its create.', true);

/** Of a VM that was started without one. */
export const noBalloon = (): VerbFailure =>
  new VerbFailure('no_balloon', 'Its machine has no balloon, which an instance gets with its create.', true);

/** Of a balloon that cannot be filled so far. Nothing was touched. */
export const balloonTooLarge = (bytes: number): VerbFailure =>
  new VerbFailure('balloon_too_large', `Its balloon holds less than ${bytes} bytes.`, true);

/** Of a VM with as many devices as it can have. */
export const noFreeSlot = (): VerbFailure =>
  new VerbFailure('no_free_slot', 'It has no place for another device.', true);

/**
 * One VMM kind. Every method is idempotent in the sense of its name, has a deadline, and leaves nothing behind when it
 * throws. One call in flight per instance (the caller serialises). Processes are detached: they outlive the agent.
 */
export abstract class VmmDriver {
  /** As its entry in the registry calls it. */
  abstract readonly kind: string;
  /**
   * What is installed and whether it really runs guests here (probed by booting, with a deadline). Cached by the
   * caller.
   */
  abstract probe(): Promise<VmmInventory>;
  /** Forgets what came of trials: the next `probe` makes them again. */
  async retest(): Promise<void> {
    await Promise.resolve();
  }
  /** Throws `VerbFailure` (permanent, with the reason) for a spec that this VMM cannot run; nothing is touched. */
  abstract validate(spec: VmSpec): void;
  /**
   * Starts the VMM and returns once the VM is observed running. On failure no process, socket or file of it is left.
   */
  abstract start(spec: VmSpec): Promise<VmHandle>;
  /** The truth from the VMM itself; `stopped` when the process is gone. */
  abstract state(handle: VmHandle): Promise<VmState>;
  /** Presses the power button. Does not wait. */
  abstract powerButton(handle: VmHandle): Promise<void>;
  /** Ends the VM and its process at once and returns when it is gone; sockets are unlinked. */
  abstract kill(handle: VmHandle): Promise<void>;
  /** Hard reset. */
  abstract reset(handle: VmHandle): Promise<void>;
  /** Its vCPUs stand still, and the VMM says so. One that is paused already stays so. */
  abstract pause(handle: VmHandle): Promise<void>;
  /** Its vCPUs go on, and the VMM says so. One that runs already goes on running. */
  abstract resume(handle: VmHandle): Promise<void>;
  /**
   * Keeps memory and devices in `common/suspended-memory`'s folder and ends the VM: `start` with `suspended` goes on from
   * there. When it throws, the VM runs on and nothing is kept, unless its process is gone.
   */
  abstract suspend(handle: VmHandle, memoryBytes: number): Promise<void>;
  /**
   * Gives the guest its host's time, for it stood still: true when it has that then. False when nobody in the guest takes
   * it, or this VMM has no way to ask. Rejects for an agent in the guest that does not do it.
   */
  async setClock(_handle: VmHandle): Promise<boolean> {
    return Promise.resolve(false);
  }
  /**
   * Writes what is in its memory into a file. It stands still meanwhile and goes on afterwards if it ran: whoever calls
   * sees to that with `settleCoreDump`, also when this throws. Throws a permanent `VerbFailure` `no_core_dump` with the
   * reason before anything is touched, `core_dump_failed`.
   */
  async coreDump(_handle: VmHandle, _dumping: CoreDumping): Promise<void> {
    await Promise.reject(noCoreDump(`The memory of ${this.kind} machines cannot be dumped.`));
  }
  /**
   * After a dump that was made, failed or was cut: none is at work any more, and nothing of it is left but the file.
   * Returns its state then. `signal` ends the wait.
   */
  async settleCoreDump(handle: VmHandle, _signal: AbortSignal): Promise<VmState> {
    return this.state(handle);
  }
  /** A non-maskable interrupt in every vCPU: what comes of it is the guest's choice. */
  abstract nmi(handle: VmHandle): Promise<void>;
  /** The ids of the cards that it has now, those too that its guest was asked to let go and still holds. */
  abstract nics(handle: VmHandle): Promise<string[]>;
  /**
   * One card more, which the VMM says that it has; one that is there already stays. `netns`: where the VMM and the tap
   * are. Throws `VerbFailure` `no_hotplug`, `no_free_slot`, `tap_missing`.
   */
  abstract attachNic(handle: VmHandle, nic: VmNic, netns: string | null): Promise<void>;
  /**
   * The guest is asked to let the card go; resolves once the VMM has it no more, and at once when it never had it. Its
   * tap is free then. Throws `VerbFailure` `device_held` after `deadlineMs`: the guest may let go later all the same.
   * `signal` ends the wait.
   */
  abstract detachNic(handle: VmHandle, nicId: string, deadlineMs: number, signal: AbortSignal): Promise<void>;
  /** The ids of the detachable disks that it has now, those too that its guest was asked to let go and still holds. */
  abstract disks(handle: VmHandle): Promise<string[]>;
  /**
   * One detachable disk more, which the VMM says that it has; one that is there already stays. It is as fast as the
   * limits leave it with which the VM was started. The file is made the VMM's
   * own. Throws `VerbFailure` `no_hotplug`, `no_free_slot`, `disk_missing`, `disk_locked`.
   */
  abstract attachDisk(handle: VmHandle, disk: VmDisk): Promise<void>;
  /** As `detachNic`. Nothing has the disk's file open then. */
  abstract detachDisk(handle: VmHandle, diskId: string, deadlineMs: number, signal: AbortSignal): Promise<void>;
  /** What it has now, as the VMM says. Of vCPUs that its guest was asked to give back some VMMs say that they are gone. */
  abstract size(handle: VmHandle): Promise<VmSize>;
  /**
   * Whether its machine and its VMM can come to that size while it runs. Throws a permanent `VerbFailure`
   * `resize_needs_stop` that says why not. Touches nothing.
   */
  abstract checkResize(handle: VmHandle, size: VmSize): Promise<void>;
  /**
   * It has so many vCPUs, which the VMM says; at once when it has them already. Fewer are given back by the guest: throws
   * `VerbFailure` `resize_held` after `deadlineMs`, and the guest may do it later all the same. `signal` ends the wait.
   */
  abstract setVcpus(handle: VmHandle, vcpus: number, deadlineMs: number, signal: AbortSignal): Promise<void>;
  /** As `setVcpus`, of bytes of memory. Where the guest takes it too, throws `resize_held` when it does not. */
  abstract setMemory(handle: VmHandle, bytes: number, deadlineMs: number, signal: AbortSignal): Promise<void>;
  /** Throws `VerbFailure` `no_balloon` for a VM without one. */
  abstract memory(handle: VmHandle): Promise<VmMemory>;
  /**
   * Its guest is asked to keep so many bytes of its memory: what it does shows in `memory`, sooner or later. Throws
   * `VerbFailure` `no_balloon`, `balloon_too_large`.
   */
  abstract setBalloon(handle: VmHandle, bytes: number): Promise<void>;
  /**
   * All its threads are where they are to be, as the kernel says; those that come later too. True when some were not.
   * Nothing happens for one that has no process.
   */
  async confine(handle: VmHandle, cpus: VmCpus): Promise<boolean> {
    if (!isRunning(handle.process)) return false;
    const { own, process } = cpus;
    const vcpus = own === null ? () => undefined : await this.vcpuThreads(handle);
    const { changed } = await confineThreads(handle.process.pid, (thread) => {
      const vcpu = vcpus(thread);
      const cpu = vcpu === undefined ? undefined : own?.[vcpu];
      if (cpu !== undefined) return [cpu];
      // What a vCPU's thread has made has its CPU, which is the instance's own too.
      const within = own !== null && thread.allowed.length > 0 && thread.allowed.every((one) => own.includes(one));
      return within ? thread.allowed : process;
    });
    return changed;
  }
  /** Which vCPU a thread of it is. */
  protected abstract vcpuThreads(handle: VmHandle): Promise<(thread: Thread) => number | undefined>;
  /**
   * Resolves when the process has ended, with the cause; works for processes adopted after an agent restart too.
   * `tell` hears what the guest does until then.
   */
  abstract waitExit(handle: VmHandle, signal: AbortSignal, tell?: (event: GuestEvent) => void): Promise<VmExit>;
  /** Unix socket path of the serial console (one client at a time: the agent). */
  abstract serialSocket(handle: VmHandle): string;
  /**
   * A stream to a port of its guest: any number at a time. Rejects with `VerbFailure` `no_vsock`, `not_running`,
   * `vsock_refused`, `vsock_silent`.
   */
  vsock(_handle: VmHandle, _port: number): Promise<Socket> {
    return Promise.reject(noVsock());
  }
  /** A connection to its screen, by RFB: any number at a time. Rejects with a permanent `VerbFailure` `no_screen`. */
  screen(_handle: VmHandle): Promise<Socket> {
    return Promise.reject(noScreen(`${this.kind} machines have no screen: use the serial console.`));
  }
  /**
   * What its screen shows now, as PNG. Rejects with a permanent `VerbFailure` `no_screen`, `screenshot_too_large`, or
   * `not_running`.
   */
  screenshot(handle: VmHandle): Promise<Buffer> {
    // Whoever has a screen overrides both.
    return this.screen(handle).then(() => Promise.reject(new Error(`${this.kind} cannot make screenshots`)));
  }
}
