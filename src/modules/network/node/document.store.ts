import { injectable } from 'inversify';
import { readFile, rename } from 'node:fs/promises';
import { StatePaths } from '../../../core/config/state-paths';
import { formatRecord, parseRecord } from '../../../core/host/records/record-form';
import { RecordProblems } from '../../../core/host/records/record-problems';
import { replaceFile } from '../../../core/host/files/replace-file';
import type { HostNetworkDocument } from '../contract/host-document';
import { documentForm } from './document-record';

/**
 * The document that this host was last given, on disk: the host converges to it again after every start, without
 * management.
 */
@injectable()
export class DocumentStore {
  /** The file there cannot be read: it is kept beside the next one. */
  private unread = false;

  constructor(
    private readonly paths: StatePaths,
    private readonly problems: RecordProblems,
  ) {}

  /**
   * Null when there was none, or none that can be read. Then the host's networks stay as they are until management sends
   * the document anew, which it does as soon as it hears that there is none.
   */
  async load(): Promise<HostNetworkDocument | null> {
    let text: string;
    try {
      text = await readFile(this.file(), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      return this.cannotRead('unreadable', (error as Error).message);
    }
    const reading = parseRecord(documentForm, text);
    return reading.kind === 'read' ? reading.value : this.cannotRead(reading.kind, reading.reason);
  }

  async save(document: HostNetworkDocument): Promise<void> {
    if (this.unread) await rename(this.file(), `${this.file()}.unread`);
    this.unread = false;
    await replaceFile(this.file(), formatRecord(documentForm, document), { folder: true });
    this.problems.clear(this.file());
  }

  private cannotRead(kind: 'newer' | 'unreadable', reason: string): null {
    this.unread = true;
    this.problems.note(this.file(), kind, reason);
    return null;
  }

  private file(): string {
    return this.paths.stateDir('network', 'document.json');
  }
}
