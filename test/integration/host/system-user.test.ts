import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { exec } from '../../../src/core/host/processes/exec';
import { ensureSystemUser } from '../../../src/core/host/sandbox/system-user';

const namesIn = (file: string, name: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`${name}:`));

describe('system users', () => {
  const name = `vc-t-${randomBytes(5).toString('hex')}`;

  afterAll(() => exec('userdel', [name]));

  it('is one and the same for all who ask for it at once', async () => {
    const found = await Promise.all([1, 2, 3, 4, 5, 6].map(() => ensureSystemUser(name)));
    const [line, ...more] = namesIn('/etc/passwd', name);
    expect(more).toEqual([]);
    const [, , uid, gid] = line?.split(':') ?? [];
    expect(found).toEqual(found.map(() => ({ uid: Number(uid), gid: Number(gid) })));
    expect(namesIn('/etc/group', name)).toHaveLength(1);
    expect(await ensureSystemUser(name)).toEqual(found[0]);
  });
});
