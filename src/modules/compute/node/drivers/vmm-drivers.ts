import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Config } from '../../../../core/config/config';
import { StatePaths } from '../../../../core/config/state-paths';
import { VerbFailure } from '../../../../core/m2m/verb-handler';
import { Logging } from '../../../../core/telemetry/logging';
import type { VmmInventory } from '../../../host/contract/host.api';
import type { ComputeConfig } from '../../contract/compute.config';
import { findFirmware } from './cloud-hypervisor/ch-firmware';
import { sandboxUsers } from '../../../../core/host/sandbox-users';
import { CloudHypervisorDriver } from './cloud-hypervisor/cloud-hypervisor.driver';
import { QemuDriver } from './qemu/qemu.driver';
import type { VmmSandboxOptions } from './common/vmm-sandbox';
import { SimulatedDriver } from './simulated/simulated.driver';
import { VmmDriver } from './vmm-driver';

type Kind = ComputeConfig['drivers'][number];

/** Better first. A VMM that was configured to simulate is only taken when nothing real is there. */
const rank = (vmm: VmmInventory): number =>
  vmm.kind === 'cloud-hypervisor' ? 0 : vmm.kind === 'qemu' ? (vmm.accel === 'kvm' ? 1 : 2) : 3;

/** The VMM drivers that this host's configuration allows. */
@injectable()
export class VmmDrivers {
  private readonly drivers = new Map<Kind, VmmDriver>();
  private choice: Promise<VmmDriver> | null = null;

  constructor(config: Config, paths: StatePaths, logging: Logging) {
    const section = config.section<ComputeConfig>('compute');
    const { trial, taps } = sandboxUsers(config.core.sandbox);
    const sandbox: VmmSandboxOptions = {
      trialUser: trial,
      tapGroup: taps,
      readOnlyPaths: config.core.sandbox.readOnlyPaths,
    };
    for (const kind of section.drivers) {
      this.drivers.set(kind, makeDriver(kind, section, sandbox, paths.stateDir('vmm'), logging.for(`vmm.${kind}`)));
    }
  }

  all(): VmmDriver[] {
    return [...this.drivers.values()];
  }

  /** Throws a permanent `VerbFailure` `vmm_unknown` for a kind that is not configured here. */
  byKind(kind: string): VmmDriver {
    const driver = this.drivers.get(kind as Kind);
    if (!driver) throw new VerbFailure('vmm_unknown', `This host has no VMM driver "${kind}".`, true);
    return driver;
  }

  /**
   * The best usable VMM by the last probe: Cloud Hypervisor, then QEMU on KVM, then QEMU in software, then the
   * simulation. Throws a permanent `VerbFailure` `no_usable_vmm` with every reason; then the next call probes anew.
   */
  async best(): Promise<VmmDriver> {
    this.choice ??= this.probe().then((probed) => pick(probed));
    try {
      return await this.choice;
    } catch (error) {
      this.choice = null;
      throw error;
    }
  }

  /** What the host can do, and a new choice of the best: what failed once may work by now. */
  async inventory(): Promise<VmmInventory[]> {
    const probed = await this.probe();
    if (probed.some(({ vmm }) => vmm.usable)) this.choice = Promise.resolve(pick(probed));
    return probed.map(({ vmm }) => vmm);
  }

  /** Whatever came of earlier trials, the next probe makes them again. */
  async retest(): Promise<void> {
    await Promise.all(this.all().map((driver) => driver.retest()));
  }

  private probe(): Promise<Probed[]> {
    return Promise.all(this.all().map(async (driver) => ({ driver, vmm: await driver.probe() })));
  }
}

interface Probed {
  driver: VmmDriver;
  vmm: VmmInventory;
}

const pick = (probed: readonly Probed[]): VmmDriver => {
  const [first] = probed.filter(({ vmm }) => vmm.usable).sort((a, b) => rank(a.vmm) - rank(b.vmm));
  if (first) return first.driver;
  throw new VerbFailure(
    'no_usable_vmm',
    'No VMM can run guests on this host.',
    true,
    {},
    { detail: probed.map(({ vmm }) => `${vmm.kind}: ${vmm.reason}`).join('; ') },
  );
};

const makeDriver = (
  kind: Kind,
  { cloudHypervisor, qemu, simulated, accel }: ComputeConfig,
  sandbox: VmmSandboxOptions,
  cacheDir: string,
  log: Logger,
): VmmDriver => {
  switch (kind) {
    case 'cloud-hypervisor': {
      const { binary, firmware, kernel, cmdline } = cloudHypervisor;
      const found = firmware === '' && kernel === '' ? findFirmware(binary) : firmware;
      return new CloudHypervisorDriver(
        { binary, payload: { firmware: found, kernel, cmdline }, cacheDir, sandbox },
        log,
      );
    }
    case 'qemu':
      return new QemuDriver({ binary: qemu.binary, accel, cacheDir, sandbox }, log);
    case 'simulated':
      return new SimulatedDriver(simulated);
  }
};
