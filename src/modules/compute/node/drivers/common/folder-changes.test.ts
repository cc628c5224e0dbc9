import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderChanges } from './folder-changes';

describe('FolderChanges', () => {
  let folder: string;
  let changes: FolderChanges;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vcs-changes-'));
    changes = new FolderChanges(folder);
  });
  afterEach(() => {
    changes.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('ends a wait when something appears', async () => {
    const waited = changes.next(60_000);
    writeFileSync(join(folder, 'socket'), '');
    await waited;
  });

  it('remembers what appeared between two waits', async () => {
    const first = changes.next(60_000);
    writeFileSync(join(folder, 'one'), '');
    await first;
    const seen = changes.next(60_000);
    writeFileSync(join(folder, 'two'), '');
    await seen;
  });

  it('ends by its time where nothing happens, and where there is no folder', async () => {
    await changes.next(1);
    const nowhere = new FolderChanges(join(folder, 'nowhere'));
    await nowhere.next(1);
    nowhere.close();
  });
});
