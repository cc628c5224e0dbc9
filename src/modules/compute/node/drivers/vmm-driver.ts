import type { Socket } from 'node:net';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import type { VmmInventory } from '../../contract/vmm.inventory';
import type { VmExit } from './vmm-exit';

/** The two firmwares that images are made for. */
export type Firmware = 'bios' | 'uefi';

/** Everything a VMM needs to run one instance. Sizes in bytes, paths absolute. */
export interface VmSpec {
  instanceId: string;
  name: string;
  vcpus: number;
  memoryBytes: number;
  disks: { id: string; path: string; format: 'raw'; readonly: boolean }[];
  nics: { id: string; tap: string; mac: string; mtu: number }[];
  /** What boots the disk; absent: whatever this VMM boots with. */
  firmware?: Firmware;
  /** Network namespace of the VMM process (`ip netns` name); null for the host's. */
  netns: string | null;
  /** User (and group) id that the VMM runs as, this instance's alone; no account of the host. */
  user: number;
  /** Own folder for sockets and what is known of the VM's end (short path: Unix sockets allow 107 bytes). */
  runDir: string;
  /** Own folder for logs, and for what the machine keeps between its starts. */
  logDir: string;
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
}

export type VmState = 'running' | 'paused' | 'stopped';

/** Of a VM without a screen; says why, and what helps. */
export const noScreen = (why: string): VerbFailure => new VerbFailure('no_screen', why, true);

/** Of a VM that did not come to the state that was asked for. */
export const notInState = (state: VmState, wanted: VmState): VerbFailure =>
  state === 'stopped'
    ? new VerbFailure('not_running', 'The VM is not running.', true)
    : new VerbFailure('vmm_refused', `The VM is ${state} although it was to be ${wanted}.`, false);

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
  /** A non-maskable interrupt in every vCPU: what comes of it is the guest's choice. */
  abstract nmi(handle: VmHandle): Promise<void>;
  /** Resolves when the process has ended, with the cause; works for processes adopted after an agent restart too. */
  abstract waitExit(handle: VmHandle, signal: AbortSignal): Promise<VmExit>;
  /** Unix socket path of the serial console (one client at a time: the agent). */
  abstract serialSocket(handle: VmHandle): string;
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
