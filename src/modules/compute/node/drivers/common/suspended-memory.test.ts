import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryOf } from './suspended-memory';

const user = 1910009999;

describe('what is kept of a suspended machine', () => {
  let logDir: string;
  beforeEach(() => (logDir = mkdtempSync(join(tmpdir(), 'kept-'))));
  afterEach(() => rmSync(logDir, { recursive: true, force: true }));

  it('counts once it is whole, is lent to its user, and counts no more once it was used', async () => {
    const memory = memoryOf({ logDir, user });
    await memory.make();
    await memory.open(1);
    expect(statSync(memory.directory).uid).toBe(user);
    writeFileSync(join(memory.directory, 'state'), 'x');
    await memory.complete();
    expect([await memory.isComplete(), statSync(memory.directory).uid]).toEqual([true, 0]);
    await memory.lend();
    expect([statSync(memory.directory).uid, statSync(join(memory.directory, 'state')).uid]).toEqual([user, user]);
    await memory.use();
    expect(await memory.isComplete()).toBe(false);
    await memory.empty();
    expect(statSync(memory.directory).uid).toBe(0);
  });

  it('is nothing when the VMM put a link in its place, and what the link leads to stays as it was', async () => {
    const other = join(logDir, 'of-somebody-else');
    writeFileSync(other, 'x', { mode: 0o600 });
    const { uid, ctimeMs } = statSync(other);
    const memory = memoryOf({ logDir, user });
    await memory.make();
    await memory.open(1);
    symlinkSync(other, join(memory.directory, 'state'));
    await expect(memory.complete()).rejects.toMatchObject({ code: 'suspend_failed' });
    await expect(memory.lend()).rejects.toMatchObject({ code: 'suspend_failed' });
    expect([await memory.isComplete(), statSync(other).uid, statSync(other).ctimeMs]).toEqual([false, uid, ctimeMs]);
    await memory.empty();
    expect(statSync(other).ctimeMs).toBe(ctimeMs);
  });
});
