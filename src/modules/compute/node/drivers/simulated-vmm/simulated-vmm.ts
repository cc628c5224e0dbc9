import { accessSync } from 'node:fs';
import { ApiFailure } from './api-failure';
import type { EventMonitor } from './event-monitor';
import type { SimulationKnobs } from './knobs';
import { OwnedVm } from './owned-vm';
import { profiles, type VersionProfile } from './profile';
import { SerialPort } from './serial-port';
import { SimulatedGuest } from './simulated-guest';
import { validateConfig } from './validation';
import type { VmConfig } from './vm-config';

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
  config: VmConfig | null = null;
  vm: OwnedVm | null = null;
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
    },
  ) {
    this.profile = profiles[knobs.version];
    this.serial = new SerialPort(this.profile);
    events.emit('vmm', 'starting');
  }

  async create(config: VmConfig): Promise<void> {
    const heading = 'The VM could not be created';
    if (this.config) throw new ApiFailure('internal', heading, 'VM is already created');
    // Stored before the consoles are opened: a failure there leaves it.
    this.config = config;
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
    if (lost) {
      setImmediate(() => this.end(1));
      throw new ApiFailure('internal', 'API response receive error', 'receiving on a closed channel');
    }
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

  async boot(): Promise<void> {
    this.events.emit('vm', 'booting');
    const { config } = this;
    if (!config) throw new ApiFailure('missing', bootHeading, 'VM config is missing');
    if (this.vm) throw new ApiFailure('internal', bootHeading, 'VM is already created');
    await this.construct(config, bootHeading);
    this.events.emit('vm', 'booted');
  }

  /**
   * Makes the VM object and starts its guest. Early failures lose `disks` and `net` of the configuration, late ones
   * leave the object.
   */
  async construct(config: VmConfig, heading: string): Promise<void> {
    validateConfig(config, heading, this.profile);
    if (config.payload?.firmware) config.payload = { ...config.payload, cmdline: null, initramfs: null };
    const vm = new OwnedVm(this.knobs);
    try {
      this.needFile(config.payload?.initramfs ?? null, heading, 'Cannot open initramfs file');
      vm.build(config, heading);
      if (!this.consolesOpen) await this.serial.open(config.serial, heading);
      this.consolesOpen = true;
    } catch (error) {
      config.disks = null;
      config.net = null;
      vm.dispose();
      throw error;
    }
    this.vm = vm;
    vm.lockDisks(config.disks ?? [], heading);
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
    });
    for (const item of [...(config.disks ?? []), ...(config.net ?? [])])
      if (item.id !== null) this.events.emit('virtio-device', 'activated', { id: item.id });
  }

  async shutdown(): Promise<void> {
    if (!this.vm) throw new ApiFailure('internal', 'The VM could not shutdown', 'VM is not running');
    await this.drop();
  }

  async delete(): Promise<void> {
    if (!this.config) return;
    if (this.vm) await this.drop();
    this.config = null;
    await this.closeConsoles();
    this.events.emit('vm', 'deleted');
  }

  async reboot(): Promise<void> {
    this.events.emit('vm', 'rebooting');
    const { config } = this;
    if (!this.vm || !config) throw new ApiFailure('missing', 'The VM could not reboot', 'VM is not created');
    this.vm.dispose();
    this.vm = null;
    await this.closeConsoles();
    await this.construct(config, 'The VM could not reboot');
    this.events.emit('vm', 'rebooted');
  }

  pause(): void {
    this.events.emit('vm', 'pausing');
    const vm = this.running('The VM could not be paused');
    if (vm.state === 'Paused')
      throw this.transition(
        'The VM could not be paused',
        'Cannot pause VM',
        'Failed to pause migratable component',
        'Paused, Paused',
      );
    vm.state = 'Paused';
    vm.guest?.pause();
    this.events.emit('vm', 'paused');
  }

  resume(): void {
    this.events.emit('vm', 'resuming');
    const vm = this.running('The VM could not resume');
    if (vm.state === 'Running')
      throw this.transition(
        'The VM could not resume',
        'Cannot resume VM',
        'Failed to resume migratable component',
        'Running, Running',
      );
    vm.state = 'Running';
    vm.guest?.resume();
    this.events.emit('vm', 'resumed');
  }

  powerButton(): void {
    this.running('Error triggering power button').guest?.powerButton();
  }

  nmi(): void {
    this.running('Error triggering NMI');
  }

  info(): Record<string, unknown> {
    const { config, vm } = this;
    if (!config) throw new ApiFailure('missing', 'The VM info is not available', 'VM is not created');
    const zones = (config.memory.zones ?? []).reduce((sum, zone) => sum + zone.size + (zone.hotplugged_size ?? 0), 0);
    const memory = config.memory.size + (config.memory.hotplugged_size ?? 0) + zones - (config.balloon?.size ?? 0);
    return {
      config,
      state: vm?.state ?? 'Created',
      memory_actual_size: memory,
      ...(vm && { device_tree: vm.deviceTree() }),
    };
  }

  counters(): Record<string, Record<string, number | bigint>> {
    this.running('The VM info is not available');
    const never = 18_446_744_073_709_551_615n;
    const latencies = Object.fromEntries(
      ['read', 'write'].flatMap((way) => ['min', 'max', 'avg'].map((kind) => [`${way}_latency_${kind}`, never])),
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
    await this.delete();
    this.events.emit('vmm', 'shutdown');
    setImmediate(() => this.end(0));
  }

  /** The guest panicked and told its pvpanic device: only an event. */
  guestPanic(): void {
    this.events.emit('guest', 'panic', { event: 'panic' });
  }

  async guestPowerOff(): Promise<void> {
    if (!this.vm) return;
    if (this.options.stay) return this.drop();
    await this.shutdownVmm();
  }

  async guestReset(): Promise<void> {
    await this.reboot().catch((error: unknown) => {
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

  running(heading: string): OwnedVm {
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
    await this.serial.close();
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
