import { injectable } from 'inversify';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { StatePaths } from '../../../../../core/config/state-paths';
import { formatRecord, parseRecord, type RecordForm } from '../../../../../core/host/records/record-form';

const stateRecord = z.object({
  /** Index of each network's link in the link pool. */
  links: z.record(z.string(), z.number().int()),
  /**
   * Per namespace: hash of the tables as written, and their fingerprint as the kernel lists them; hash of all but the
   * elements of sets that change by themselves, and hashes of these.
   */
  tables: z.record(
    z.string(),
    z.object({
      want: z.string(),
      listed: z.string(),
      shape: z.string().default(''),
      sets: z.record(z.string(), z.string()).default({}),
    }),
  ),
  /**
   * Addresses that names of the cloud's machines had when they were last found: without a name server they still hold.
   */
  machines: z.record(z.string(), z.array(z.string())).default({}),
});

export type LinuxState = z.output<typeof stateRecord>;

const stateForm: RecordForm<LinuxState> = {
  name: 'state of the networks',
  version: 1,
  schema: stateRecord,
  upgrades: {},
};

/**
 * What the linux driver must remember over restarts. Losing it costs reloads, and traffic only while names of the
 * cloud's machines are not found.
 */
@injectable()
export class LinuxStateStore {
  private saved = '';

  constructor(private readonly paths: StatePaths) {}

  async load(): Promise<LinuxState> {
    const text = await readFile(this.file(), 'utf8').catch(() => '');
    const reading = parseRecord(stateForm, text);
    if (reading.kind !== 'read') return { links: {}, tables: {}, machines: {} };
    this.saved = text;
    return reading.value;
  }

  async save(state: LinuxState): Promise<void> {
    const text = formatRecord(stateForm, state);
    if (text === this.saved) return;
    if (Object.keys(state.links).length === 0 && Object.keys(state.tables).length === 0) {
      await rm(this.file(), { force: true });
    } else {
      await mkdir(dirname(this.file()), { recursive: true });
      await writeFileAtomic(this.file(), text, { fsync: false });
    }
    this.saved = text;
  }

  private file(): string {
    return this.paths.stateDir('network', 'linux.json');
  }
}
