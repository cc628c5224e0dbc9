import { z } from 'zod';
import type { InventoryTable } from '../../../core/m2m/reports/inventory-table';

export const vmmInventory = z.object({
  /** `cloud-hypervisor`, `qemu`, `simulated`, or one that this build does not know. */
  kind: z.string().min(1).max(63),
  version: z.string(),
  /** kvm or tcg for QEMU; kvm for Cloud Hypervisor. */
  accel: z.string(),
  usable: z.boolean(),
  reason: z.string(),
  /** What operators should know although guests run on it. Absent when there is nothing. */
  warning: z.string().optional(),
  capabilities: z.array(z.string()),
  /** Models of CPUs that it can give with all that makes them. Absent: none by name, or its agent is of before. */
  cpuModels: z.array(z.string()).optional(),
});
/** What placement looks at. */
const keptVmm = vmmInventory.pick({ kind: true, usable: true, capabilities: true, cpuModels: true });
export type KeptVmm = z.infer<typeof keptVmm>;
export type VmmInventory = z.infer<typeof vmmInventory>;

/** A directory of the host that instances may mount, as its configuration says. */
export const shareInventory = z.object({
  name: z.string(),
  /** No guest may write to it. */
  readonly: z.boolean(),
  /** Ids of the projects whose instances may have it. */
  projects: z.array(z.string()),
  usable: z.boolean(),
  /** Why it cannot be used; empty when it can. */
  reason: z.string(),
});
const keptShare = shareInventory.omit({ reason: true });
export type ShareInventory = z.infer<typeof shareInventory>;
export type KeptShare = z.infer<typeof keptShare>;

export const computeInventory: InventoryTable = {
  vmms: {
    entry: vmmInventory,
    tables: [
      {
        title: 'Virtual machine monitors',
        columns: [
          { key: 'kind', title: 'kind' },
          { key: 'version', title: 'version' },
          { key: 'accel', title: 'accelerator' },
          { key: 'usable', title: 'usable', as: 'yes-no' },
          { key: 'reason', title: 'reason' },
        ],
        none: 'none found',
      },
      {
        title: 'What they can do',
        columns: [
          { key: 'kind', title: 'kind' },
          { key: 'capabilities', title: 'capabilities', as: 'words' },
        ],
        only: 'usable',
        none: 'none is usable',
      },
      {
        title: 'Models of CPUs',
        columns: [
          { key: 'kind', title: 'kind' },
          { key: 'cpuModels', title: 'models', as: 'words' },
        ],
        only: 'usable',
        none: 'none is usable',
      },
    ],
    kept: keptVmm,
  },
  shares: {
    entry: shareInventory,
    tables: [
      {
        title: 'Shares',
        columns: [
          { key: 'name', title: 'name' },
          { key: 'readonly', title: 'read-only' },
          { key: 'usable', title: 'usable', as: 'yes-no' },
          { key: 'projects', title: 'projects', as: 'words' },
          { key: 'reason', title: 'reason' },
        ],
        none: 'none',
      },
    ],
    kept: keptShare,
  },
};
