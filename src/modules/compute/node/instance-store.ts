import { injectable } from 'inversify';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StatePaths } from '../../../core/config/state-paths';
import { replaceFile } from '../../../core/host/replace-file';
import { instanceRecord, type InstanceRecord } from './instance-record';

const isId = (name: string): boolean => /^[0-9a-f-]{36}$/.test(name);

/** The node's files of instances: `<state>/instances/<id>/` persists, `<run>/i/<id>/` holds sockets. */
@injectable()
export class InstanceStore {
  constructor(private readonly paths: StatePaths) {}

  directory(instanceId: string): string {
    return this.paths.stateDir('instances', instanceId);
  }

  runDirectory(instanceId: string): string {
    return this.paths.runDir('i', instanceId);
  }

  async save(record: InstanceRecord): Promise<void> {
    const directory = this.directory(record.instanceId);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await replaceFile(join(directory, 'instance.json'), JSON.stringify(record));
  }

  /** All records; a folder without a readable record (the agent died while making it) has none. */
  async load(): Promise<InstanceRecord[]> {
    const names = await readdir(this.paths.stateDir('instances')).catch(() => []);
    const records: InstanceRecord[] = [];
    for (const name of names.filter(isId)) {
      const text = await readFile(join(this.directory(name), 'instance.json'), 'utf8').catch(() => null);
      if (text === null) continue;
      records.push(instanceRecord.parse(JSON.parse(text)));
    }
    return records;
  }

  /** Every trace of the instance on disk. */
  async remove(instanceId: string): Promise<void> {
    await rm(this.runDirectory(instanceId), { recursive: true, force: true });
    await rm(this.directory(instanceId), { recursive: true, force: true });
  }
}
