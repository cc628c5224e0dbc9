import { injectable } from 'inversify';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StatePaths } from '../../../core/config/state-paths';
import { replaceFile } from '../../../core/host/replace-file';
import { hostNetworkDocument, type HostNetworkDocument } from '../contract/network.verbs';

/**
 * The document that this host was last given, on disk: the host converges to it again after every start, without
 * management.
 */
@injectable()
export class DocumentStore {
  constructor(private readonly paths: StatePaths) {}

  /** Null when there was none. A file that cannot be read is an error: acting on a guess would take networks away. */
  async load(): Promise<HostNetworkDocument | null> {
    let text: string;
    try {
      text = await readFile(this.file(), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    return hostNetworkDocument.parse(JSON.parse(text));
  }

  async save(document: HostNetworkDocument): Promise<void> {
    await mkdir(dirname(this.file()), { recursive: true, mode: 0o700 });
    await replaceFile(this.file(), JSON.stringify(document));
  }

  private file(): string {
    return this.paths.stateDir('network', 'document.json');
  }
}
