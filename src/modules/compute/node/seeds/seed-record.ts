import { z } from 'zod';
import type { RecordForm } from '../../../../core/host/records/record-form';

/** What the metadata service tells a guest, beside its instance's record. `userData` in base64. */
const seedRecord = z.object({
  instanceId: z.string(),
  name: z.string(),
  hostname: z.string(),
  sshKeys: z.array(z.string()),
  userData: z.string(),
  vendorData: z.string().optional(),
  flavor: z.string(),
  project: z.string(),
  metadata: z.record(z.string(), z.string()).default({}),
});
export type SeedRecord = z.output<typeof seedRecord>;

export const seedForm: RecordForm<SeedRecord> = {
  name: 'metadata of an instance',
  version: 1,
  schema: seedRecord,
  upgrades: {},
};
