import type { Logger } from 'pino';
import type { VmmInventory } from '../../contract/vmm.inventory';
import type { ComputeConfig } from '../../contract/compute.config';
import type { VmmCapability } from '../../contract/vmm-capabilities';
import type { VmmSandboxOptions } from './common/vmm-sandbox';
import type { VmmDriver } from './vmm-driver';

/** What a driver is made with. */
interface VmmDriverContext {
  config: ComputeConfig;
  sandbox: VmmSandboxOptions;
  /** Folder for what probes find out. */
  cacheDir: string;
  log: Logger;
}

/** A driver as the registry knows it; nobody else names one. */
export interface VmmDriverEntry {
  /** As configuration, records and reports call it. */
  kind: string;
  /** All that its code can do; a probe says what of it holds on a host. */
  capabilities: readonly VmmCapability[];
  /** The lower one is chosen where several could run an instance. */
  rank: (vmm: Pick<VmmInventory, 'accel'>) => number;
  make: (context: VmmDriverContext) => VmmDriver;
}
