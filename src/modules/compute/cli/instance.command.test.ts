import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseNetwork } from './instance-create';
import { keyOrName, readPublicKey } from './public-key-file';

describe('parseNetwork', () => {
  it('takes a name, with an address or without', () => {
    expect(parseNetwork('n1')).toEqual({ network: 'n1' });
    expect(parseNetwork('n1,address=10.0.0.5')).toEqual({ network: 'n1', address: '10.0.0.5' });
    expect(parseNetwork('n1,default-route,address=10.0.0.5')).toEqual({ network: 'n1', address: '10.0.0.5', defaultRoute: true });
    for (const bad of ['', ',address=1.2.3.4', 'n1,', 'n1,mac=x', 'n1,address=', 'n1,address=1.1.1.1,address=2.2.2.2']) expect(() => parseNetwork(bad)).toThrow(/--network/);
  });
});

describe('public keys', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'keys-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('come from a file when there is one, else the name stands', async () => {
    const file = join(dir, 'me.pub');
    await writeFile(file, '# mine\nssh-ed25519 AAAA me@host\n\n');
    expect(await keyOrName(file)).toBe('ssh-ed25519 AAAA me@host');
    expect(await keyOrName('laptop')).toBe('laptop');
    expect(await keyOrName('ssh-ed25519 AAAA me')).toBe('ssh-ed25519 AAAA me');
    expect(await keyOrName('team/laptop')).toBe('team/laptop');
  });

  it('that can only be a file must be there', async () => {
    for (const value of [join(dir, 'me.pub'), './key', '~/.ssh/none', 'none.pub', dir]) await expect(keyOrName(value)).rejects.toThrow(/^--key: there is no file .*ssh-keygen/);
  });

  it('are never private keys, several keys, nothing or a whole disk', async () => {
    const file = join(dir, 'key');
    for (const content of ['-----BEGIN OPENSSH PRIVATE KEY-----\nx\n', 'ssh-rsa A\nssh-rsa B\n', '\n', 'x'.repeat(20_000)]) {
      await writeFile(file, content);
      await expect(readPublicKey(file)).rejects.toThrow(file);
    }
    await expect(readPublicKey(join(dir, 'none'))).rejects.toThrow(/there is no file/);
  });
});
