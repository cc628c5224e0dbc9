import { accessSync } from 'node:fs';
import { ApiFailure } from './api-failure';
import type { EventMonitor } from './event-monitor';
import type { SimulationKnobs } from './knobs';
import { checkMemory } from './memory-manager';
import { OwnedVm } from './owned-vm';
import { profiles, type VersionProfile } from './profile';
import { SerialPort } from './serial-port';
import { SimulatedGuest } from './simulated-guest';
import { presentConfig } from './present';
import { validateConfig } from './validation';
import { VsockPort } from './vsock-port';
import { randomMac, type VmConfig } from './vm-config';

/** How the VMM's process ends: an exit code or a signal. */
export type VmmEnd = number | NodeJS.Signals;

const bootHeading = 'The VM could not boot';

/**
 * Cloud Hypervisor's state machine: a stored configuration, at most one VM object, and a process that ends with its
 * guest. Methods throw `ApiFailure`. The order of checks, events and side effects is the original's, the unlucky ones
 * included.
 */
export class SimulatedVmm {
  readonly profile: VersionProfile;
  readonly serial: SerialPort;
  private readonly vsock: VsockPort;
  config: VmConfig | null = null;
  vm: OwnedVm | null = null;
  /** A VM on its way to another VMM is locked; what vm.info says of it stays as it was. */
  migrating: { info: Record<string, unknown> } | null = null;
  /** Answers nothing any more. */
  deaf = false;
  private ending = false;
  /** The consoles that vm.create opened serve the first boot; every later one opens its own. */
  private consolesOpen = false;

  constructor(
    readonly knobs: SimulationKnobs,
    readonly events: EventMonitor,
    private readonly options: {
      /** The process (real or not) is over. */
      end: (how: VmmEnd) => void;
      /** `--no-shutdown`: stay after the guest's power-off. */
      stay?: boolean;
      /** A line of its log, by the thread that writes it. */
      log?: (thread: string, text: string) => void;
    },
  ) {
    this.profile = profiles[knobs.version];
    this.serial = new SerialPort(this.profile, knobs.resources === 'real');
    this.vsock = new VsockPort(knobs.drivers ? (port) => this.vm?.guest?.listener(port) : null);
    events.emit('vmm', 'starting');
  }

  async create(config: VmConfig): Promise<void> {
    const heading = 'The VM could not be created';
    this.needUnlocked(heading);
    if (this.config) throw new ApiFailure('internal', heading, 'VM is already created');
    // Stored before the consoles are opened: a failure there leaves it.
    this.config = config;
    if (this.profile.drawsMacs) for (const nic of config.net ?? []) nic.mac ??= randomMac();
    if (config.console.mode === 'Socket')
      throw new ApiFailure(
        'internal',
        heading,
        'Error creating console devices',
        'No socket option support for console device',
      );
    const lost =
      (config.serial.mode === 'File' && config.serial.file === null) ||
      (config.serial.mode === 'Socket' && config.serial.socket === null) ||
      (config.console.mode === 'File' && config.console.file === null);
    if (lost) throw this.panic();
    await this.serial.open(config.serial, heading);
    this.consolesOpen = true;
    if (config.landlock_enable && !this.knobs.landlock) {
      const text = 'partially incompatible access-rights: BitFlags<AccessFs>(0b100000000000000, Truncate)';
      throw new ApiFailure(
        'internal',
        heading,
        'Failed to apply landlock config during vm_create',
        'Error creating/adding/restricting ruleset',
        text,
      );
    }
  }

  /** The extra time that an endpoint takes. */
  async latency(endpoint: string): Promise<void> {
    const milliseconds = this.knobs.latencyMs[endpoint] ?? 0;
    if (milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, milliseconds));
  }

  /** The VMM's thread dies within a call, and the process with it. */
  panic(): ApiFailure {
    setImmediate(() => this.end(1));
    return new ApiFailure('internal', 'API response receive error', 'receiving on a closed channel');
  }

  async boot(): Promise<void> {
    this.needUnlocked(bootHeading);
    if (this.vm) throw new ApiFailure('internal', bootHeading, 'VM is already created');
    this.events.emit('vm', 'booting');
    await this.latency('vm.boot');
    const { config } = this;
    if (!config) throw new ApiFailure('missing', bootHeading, 'VM config is missing');
    await this.construct(config, bootHeading);
    this.events.emit('vm', 'booted');
  }

  /**
   * Makes the VM object and starts its guest. Early failures lose the list of devices among which they happen, late
   * ones leave the object.
   */
  async construct(config: VmConfig, heading: string, { locks = true } = {}): Promise<void> {
    checkMemory(config, heading);
    validateConfig(config, heading, this.profile);
    const zones = new Set((config.memory.zones ?? []).map(({ id }) => id));
    const nodes = config.numa ?? [];
    if (
      nodes.some((node) => node.memory_zones?.some((zone) => !zones.has(zone))) ||
      new Set(nodes.map((node) => node.guest_numa_id)).size < nodes.length
    )
      throw new ApiFailure('internal', heading, 'Invalid NUMA configuration');
    if (config.payload?.firmware) config.payload = { ...config.payload, cmdline: null, initramfs: null };
    const vm = new OwnedVm(this.knobs, this.profile, config.cpus.max_phys_bits);
    try {
      this.needFile(config.payload?.initramfs ?? null, heading, 'Cannot open initramfs file');
      vm.build(config, heading);
      if (!this.consolesOpen) await this.serial.open(config.serial, heading);
      this.consolesOpen = true;
      if (config.vsock)
        await this.vsock.open(config.vsock.socket, heading).catch((error: unknown) => {
          // As the lists of devices: a second boot goes on without.
          config.vsock = null;
          throw error;
        });
    } catch (error) {
      if (vm.making) config[vm.making] = null;
      vm.dispose();
      throw error;
    }
    this.vm = vm;
    if (locks)
      vm.lockDisks(config.disks ?? [], heading, 'Error locking disk images: Another instance likely holds a lock');
    this.needFile(config.payload?.kernel ?? null, heading, 'Cannot open kernel file');
    this.needFile(config.payload?.firmware ?? null, heading, 'Error manipulating firmware file');
    this.launch(vm, config);
  }

  /** The guest starts to run. */
  launch(vm: OwnedVm, config: VmConfig): void {
    vm.state = 'Running';
    vm.guest = new SimulatedGuest(this.knobs, this.serial, {
      powerOff: () => void this.guestPowerOff(),
      reset: () => void this.guestReset(),
      panic: () => {
        if (config.pvpanic) this.guestPanic();
      },
      watchdog: () => {
        if (config.watchdog) this.watchdogFired();
      },
    });
    for (const item of [...(config.disks ?? []), ...(config.net ?? [])]) if (item.id !== null) this.activated(item.id);
  }

  /** The guest's driver took a device, if there is one. */
  activated(id: string): void {
    if (this.knobs.drivers) this.events.emit('virtio-device', 'activated', { id });
  }

  async shutdown(): Promise<void> {
    this.needUnlocked('The VM could not shutdown');
    if (!this.vm) throw new ApiFailure('internal', 'The VM could not shutdown', 'VM is not running');
    await this.drop();
  }

  async delete(heading = 'The VM could not be deleted'): Promise<void> {
    this.needUnlocked(heading);
    if (!this.config) return;
    if (this.vm) await this.drop();
    this.config = null;
    await this.closeConsoles();
    this.events.emit('vm', 'deleted');
  }

  async reboot(): Promise<void> {
    this.events.emit('vm', 'rebooting');
    this.needUnlocked('The VM could not reboot');
    const { config } = this;
    if (!this.vm || !config) throw new ApiFailure('missing', 'The VM could not reboot', 'VM is not created');
    this.vm.dispose();
    this.vm = null;
    await this.closeConsoles();
    await this.construct(config, 'The VM could not reboot');
    this.events.emit('vm', 'rebooted');
  }

  pause(): void {
    const vm = this.running('The VM could not be paused');
    const paused = vm.state === 'Paused';
    vm.pause(this.events);
    if (paused)
      throw this.transition(
        'The VM could not be paused',
        'Cannot pause VM',
        'Failed to pause migratable component',
        'Paused, Paused',
      );
  }

  resume(): void {
    const vm = this.running('The VM could not resume');
    const running = vm.state === 'Running';
    vm.resume(this.events);
    if (running)
      throw this.transition(
        'The VM could not resume',
        'Cannot resume VM',
        'Failed to resume migratable component',
        'Running, Running',
      );
  }

  powerButton(): void {
    this.running('Error triggering power button').guest?.powerButton();
  }

  nmi(): void {
    this.running('Error triggering NMI');
  }

  info(): Record<string, unknown> {
    const { config, vm } = this;
    if (this.migrating) return this.migrating.info;
    if (!config) throw new ApiFailure('missing', 'The VM info is not available', 'VM is not created');
    const zones = (config.memory.zones ?? []).reduce((sum, zone) => sum + zone.size + (zone.hotplugged_size ?? 0), 0);
    const memory = config.memory.size + (config.memory.hotplugged_size ?? 0) + zones - this.inflated();
    return {
      config: presentConfig(config, this.profile),
      state: vm?.state ?? 'Created',
      memory_actual_size: memory,
      ...(vm && { device_tree: vm.deviceTree() }),
    };
  }

  /** What the guest gave to the balloon: it takes a driver. */
  private inflated(): number {
    return this.vm && this.knobs.drivers ? (this.config?.balloon?.size ?? 0) : 0;
  }

  counters(): Record<string, Record<string, number | bigint>> {
    this.running('The VM info is not available');
    const never = 18_446_744_073_709_551_615n;
    // Averages are kept in ten thousandths.
    const latencies = Object.fromEntries(
      ['read', 'write'].flatMap((way) => [
        [`${way}_latency_min`, never],
        [`${way}_latency_max`, never],
        [`${way}_latency_avg`, never / 10_000n],
      ]),
    );
    const block = { read_bytes: 0, write_bytes: 0, read_ops: 0, write_ops: 0, ...latencies };
    const net = { rx_bytes: 0, rx_frames: 0, tx_bytes: 0, tx_frames: 0 };
    return Object.fromEntries([
      ...(this.config?.disks ?? []).map((disk) => [disk.id ?? '', block] as const),
      ...(this.config?.net ?? []).map((nic) => [nic.id ?? '', net] as const),
    ]);
  }

  /** vmm.shutdown, SIGTERM: the VM goes, then the process. */
  async shutdownVmm(): Promise<void> {
    await this.delete('The VMM could not shutdown').catch((error: unknown) => {
      // Refused, and gone all the same as soon as the migration is over: the API was told to end.
      this.deaf = true;
      throw error;
    });
    this.events.emit('vmm', 'shutdown');
    setImmediate(() => this.end(0));
  }

  /** The guest panicked and told its pvpanic device: only an event. */
  guestPanic(): void {
    this.events.emit('guest', 'panic', { event: 'panic' });
  }

  async guestPowerOff(): Promise<void> {
    if (!this.vm) return;
    await this.fatally(async () => {
      if (this.options.stay) await this.shutdown();
      else await this.shutdownVmm();
    });
  }

  /** No event says so: only its log does. */
  private watchdogFired(): void {
    const waited = Math.round(this.knobs.watchdogMs / 1000);
    this.options.log?.(
      '__watchdog',
      `ERROR:virtio-devices/src/watchdog.rs -- Watchdog triggered: ${waited} seconds since last ping`,
    );
    void this.guestReset();
  }

  async guestReset(): Promise<void> {
    await this.fatally(() => this.reboot());
  }

  /** A signal that asks for an orderly end. */
  async terminate(): Promise<void> {
    await this.fatally(() => this.shutdownVmm());
  }

  /** What nobody called for must not fail: the VMM's thread ends with it, and the process. */
  private async fatally(run: () => Promise<void>): Promise<void> {
    await run().catch((error: unknown) => {
      if (!(error instanceof ApiFailure)) throw error;
      this.end(1);
    });
  }

  /** Ends the process, once. */
  end(how: VmmEnd): void {
    if (this.ending) return;
    this.ending = true;
    this.vm?.dispose();
    this.options.end(how);
  }

  /** Nothing created yet. */
  isFree(): boolean {
    return this.config === null && this.vm === null;
  }

  /** Throws while the VM is on its way to another VMM. */
  needUnlocked(heading: string): void {
    if (this.migrating) throw new ApiFailure('internal', heading, "VM is currently migrating and can't be modified");
  }

  /** Nothing is left of what was received. */
  discard(): void {
    this.vm?.dispose();
    this.vm = null;
    this.config = null;
  }

  running(heading: string): OwnedVm {
    this.needUnlocked(heading);
    if (!this.vm) throw new ApiFailure('internal', heading, 'VM is not running');
    return this.vm;
  }

  private async drop(): Promise<void> {
    this.vm?.dispose();
    this.vm = null;
    await this.closeConsoles();
    this.events.emit('vm', 'shutdown');
  }

  async closeConsoles(): Promise<void> {
    this.consolesOpen = false;
    await Promise.all([this.serial.close(), this.vsock.close()]);
  }

  private needFile(path: string | null, heading: string, text: string): void {
    if (path === null || this.knobs.resources === 'none') return;
    try {
      accessSync(path);
    } catch {
      throw new ApiFailure('internal', heading, text, 'No such file or directory (os error 2)');
    }
  }

  private transition(heading: string, verb: string, component: string, states: string): ApiFailure {
    return new ApiFailure(
      'internal',
      heading,
      verb,
      component,
      `Invalid transition: InvalidStateTransition(${states})`,
    );
  }
}
