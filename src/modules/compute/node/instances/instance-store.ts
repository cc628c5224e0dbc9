import { injectable } from 'inversify';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StatePaths } from '../../../../core/config/state-paths';
import { formatRecord, parseRecord } from '../../../../core/host/records/record-form';
import { RecordProblems } from '../../../../core/host/records/record-problems';
import { replaceFile } from '../../../../core/host/files/replace-file';
import { instanceForm, type InstanceRecord } from './instance-record';
import { lostInstance, type LostInstance } from './lost-instance';

const isId = (name: string): boolean => /^[0-9a-f-]{36}$/.test(name);

/** The node's files of instances: `<state>/instances/<id>/` persists, `<run>/i/<id>/` holds sockets. */
@injectable()
export class InstanceStore {
  constructor(
    private readonly paths: StatePaths,
    private readonly problems: RecordProblems,
  ) {}

  directory(instanceId: string): string {
    return this.paths.stateDir('instances', instanceId);
  }

  runDirectory(instanceId: string): string {
    return this.paths.runDir('i', instanceId);
  }

  async save(record: InstanceRecord): Promise<void> {
    await replaceFile(this.file(record.instanceId), formatRecord(instanceForm, record), { folder: true });
  }

  /**
   * All records, and the instances whose record cannot be read. A folder without one (the agent died while making it)
   * has none.
   */
  async load(): Promise<{ records: InstanceRecord[]; lost: LostInstance[] }> {
    const names = await readdir(this.paths.stateDir('instances')).catch(() => []);
    const records: InstanceRecord[] = [];
    const lost: LostInstance[] = [];
    for (const instanceId of names.filter(isId)) {
      const text = await this.text(instanceId);
      if (text === null) continue;
      const reading =
        typeof text === 'string'
          ? parseRecord(instanceForm, text)
          : ({ kind: 'unreadable', reason: text.message } as const);
      if (reading.kind === 'read') {
        records.push(reading.value);
        continue;
      }
      this.problems.note(this.file(instanceId), reading.kind, reading.reason);
      const known = typeof text === 'string' ? text : '';
      lost.push(await lostInstance(instanceId, reading.reason, known, this.runDirectory(instanceId)));
    }
    return { records, lost };
  }

  /** Every trace of the instance on disk. */
  async remove(instanceId: string): Promise<void> {
    await rm(this.runDirectory(instanceId), { recursive: true, force: true });
    await rm(this.directory(instanceId), { recursive: true, force: true });
    this.problems.clear(this.file(instanceId));
  }

  private file(instanceId: string): string {
    return join(this.directory(instanceId), 'instance.json');
  }

  private text(instanceId: string): Promise<string | Error | null> {
    return readFile(this.file(instanceId), 'utf8').catch((error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' ? null : error,
    );
  }
}
