import { injectable } from 'inversify';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { formatRecord, parseRecord } from '../../../../core/host/records/record-form';
import { RecordProblems } from '../../../../core/host/records/record-problems';
import { replaceFile } from '../../../../core/host/files/replace-file';
import { MetadataProvider, type InstanceMetadata } from '../../../network/contract/network.ports';
import type { instanceSeed } from '../../contract/instance.verbs';
import { InstanceStore } from '../instances/instance-store';
import { seedForm } from './seed-record';

type Seed = z.output<typeof instanceSeed.args>;

/** What the metadata service tells each guest, kept beside its record; goes with `instance.absent`. */
@injectable()
export class SeedStore extends MetadataProvider {
  constructor(
    private readonly store: InstanceStore,
    private readonly problems: RecordProblems,
  ) {
    super();
  }

  async save(seed: Seed): Promise<void> {
    const file = this.seedFile(seed.instanceId);
    await replaceFile(file, formatRecord(seedForm, { metadata: {}, ...seed }), { folder: true });
    this.problems.clear(file);
  }

  override async of(instanceId: string): Promise<InstanceMetadata | null> {
    const file = this.seedFile(instanceId);
    const text = await readFile(file, 'utf8').catch(() => null);
    if (text === null) return null;
    const reading = parseRecord(seedForm, text);
    if (reading.kind !== 'read') {
      this.problems.note(file, reading.kind, reading.reason);
      return null;
    }
    const seed = reading.value;
    return { ...seed, userData: Buffer.from(seed.userData, 'base64'), vendorData: seed.vendorData ?? '' };
  }

  override async password(instanceId: string): Promise<string> {
    return readFile(this.passwordFile(instanceId), 'utf8').catch(() => '');
  }

  override async keepPassword(instanceId: string, password: string): Promise<boolean> {
    // Made only where there is none, so that of two at once one is kept.
    return writeFile(this.passwordFile(instanceId), password, { flag: 'wx', mode: 0o600 }).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return false;
        throw error;
      },
    );
  }

  private seedFile(instanceId: string): string {
    return join(this.store.directory(instanceId), 'seed.json');
  }

  private passwordFile(instanceId: string): string {
    return join(this.store.directory(instanceId), 'password');
  }
}
