import { injectable } from 'inversify';
import { Config } from '../../../../core/config/config';
import { ConfigError } from '../../../../core/config/config-error';
import { StatePaths } from '../../../../core/config/state-paths';
import { sandboxUsers } from '../../../../core/host/sandbox/sandbox-users';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import { Logging } from '../../../../core/telemetry/logging';
import type { VmmInventory } from '../../contract/vmm.inventory';
import { type AskedOfHardware, givesModel, modelInWords } from '../../contract/hardware';
import type { Limits } from '../../contract/limits';
import { type AskedOfMachine, capabilitiesFor } from '../../contract/machine-options';
import type { ComputeConfig } from '../../contract/compute.config';
import type { VmmSandboxOptions } from './common/vmm-sandbox';
import { noSuchMachine } from './common/spec-checks';
import { type Firmware, VmmDriver } from './vmm-driver';
import type { VmmDriverEntry } from './vmm-driver-entry';
import { vmmDriverRegistry } from './vmm-driver-registry';

interface Configured {
  entry: VmmDriverEntry;
  driver: VmmDriver;
}

interface Probed extends Configured {
  vmm: VmmInventory;
}

/** The VMM drivers that this host's configuration allows. */
@injectable()
export class VmmDrivers {
  private readonly configured: readonly Configured[];
  /** Of the last probe that found a usable one. */
  private known: Promise<Probed[]> | null = null;

  constructor(config: Config, paths: StatePaths, logging: Logging) {
    const section = config.section<ComputeConfig>('compute');
    const { trial, taps } = sandboxUsers(config.core.sandbox);
    const sandbox: VmmSandboxOptions = {
      trialUser: trial,
      tapGroup: taps,
      readOnlyPaths: config.core.sandbox.readOnlyPaths,
    };
    this.configured = [...new Set(section.drivers)].map((kind) => {
      const entry = entryOf(kind);
      const log = logging.for(`vmm.${kind}`);
      return { entry, driver: entry.make({ config: section, sandbox, cacheDir: paths.stateDir('vmm'), log }) };
    });
  }

  all(): VmmDriver[] {
    return this.configured.map(({ driver }) => driver);
  }

  /** Throws a permanent `VerbFailure` `vmm_unknown` for a kind that is not configured here. */
  byKind(kind: string): VmmDriver {
    const found = this.configured.find(({ entry }) => entry.kind === kind);
    if (!found) throw new VerbFailure('vmm_unknown', `This host has no VMM driver "${kind}".`, true);
    return found.driver;
  }

  /**
   * The usable VMM of the lowest rank, by the last probe, that boots by the firmware and can make the machine. Throws a
   * permanent `VerbFailure`: `no_usable_vmm` with every reason, then the next call probes anew; `no_such_firmware`,
   * `no_such_machine`.
   */
  async best(
    needs: {
      firmware?: Firmware;
      machine?: AskedOfMachine;
      kernel?: object;
      limits?: Limits;
      hardware?: AskedOfHardware;
      shares?: readonly unknown[] | undefined;
    } = {},
  ): Promise<VmmDriver> {
    this.known ??= this.probe();
    const probed = await this.known.catch((error: unknown) => {
      this.known = null;
      throw error;
    });
    const usable = probed.filter(({ vmm }) => vmm.usable);
    if (usable.length === 0) {
      this.known = null;
      throw noUsableVmm(probed);
    }
    const { firmware, kernel, hardware = {} } = needs;
    const booting = usable.filter(({ vmm }) => firmware === undefined || vmm.capabilities.includes(firmware));
    const wanted = [...capabilitiesFor(needs), ...(kernel ? ['image-kernel'] : [])];
    const [first] = booting
      .filter(({ vmm }) => wanted.every((one) => vmm.capabilities.includes(one)) && givesModel(vmm, hardware))
      .sort((a, b) => a.entry.rank(a.vmm) - b.entry.rank(b.vmm));
    if (first) return first.driver;
    if (booting.length > 0) {
      const model = hardware.cpuModel === undefined ? [] : [modelInWords(hardware)];
      throw noSuchMachine([...wanted, ...model], 'no VMM of this host has all of');
    }
    throw new VerbFailure(
      'no_such_firmware',
      `The image boots by ${firmware === 'uefi' ? 'UEFI' : 'BIOS'}, which no VMM of this host has.`,
      true,
    );
  }

  /** What the host can do, and a new choice of the best: what failed once may work by now. */
  async inventory(): Promise<VmmInventory[]> {
    const probed = await this.probe();
    if (probed.some(({ vmm }) => vmm.usable)) this.known = Promise.resolve(probed);
    return probed.map(({ vmm }) => vmm);
  }

  /** Whatever came of earlier trials, the next probe makes them again. */
  async retest(): Promise<void> {
    await Promise.all(this.all().map((driver) => driver.retest()));
  }

  private probe(): Promise<Probed[]> {
    return Promise.all(this.configured.map(async (one) => ({ ...one, vmm: await one.driver.probe() })));
  }
}

const entryOf = (kind: string): VmmDriverEntry => {
  const entry = vmmDriverRegistry.find((one) => one.kind === kind);
  if (entry) return entry;
  const kinds = vmmDriverRegistry.map((one) => one.kind).join(', ');
  throw new ConfigError([`modules.compute.drivers: there is no VMM driver "${kind}"; there are ${kinds}`]);
};

const noUsableVmm = (probed: readonly Probed[]): VerbFailure =>
  new VerbFailure(
    'no_usable_vmm',
    'No VMM can run guests on this host.',
    true,
    {},
    { detail: probed.map(({ vmm }) => `${vmm.kind}: ${vmm.reason}`).join('; ') },
  );
