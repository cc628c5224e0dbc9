import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readUserData, readVendorData } from './guest-data-file';
import { parseNetwork, parseShare } from './instance-create';
import { guestDataView } from './instance-view';
import { keyOrName, readPublicKey } from './public-key-file';

describe('parseNetwork', () => {
  it('takes a name, with an address or without', () => {
    expect(parseNetwork('n1')).toEqual({ network: 'n1' });
    expect(parseNetwork('n1,address=10.0.0.5')).toEqual({ network: 'n1', address: '10.0.0.5' });
    expect(parseNetwork('n1,default-route,address=10.0.0.5')).toEqual({
      network: 'n1',
      address: '10.0.0.5',
      defaultRoute: true,
    });
    expect(parseNetwork('n1,security-group=web,security-group=db')).toEqual({
      network: 'n1',
      securityGroups: ['web', 'db'],
    });
    for (const bad of [
      '',
      'n1,security-group=',
      ',address=1.2.3.4',
      'n1,',
      'n1,mac=x',
      'n1,address=',
      'n1,address=1.1.1.1,address=2.2.2.2',
    ])
      expect(() => parseNetwork(bad)).toThrow(/--network/);
  });
});

it('takes a share by its name, with :ro only to read', () => {
  expect(parseShare('media')).toEqual({ share: 'media', readonly: false });
  expect(parseShare('media:ro')).toEqual({ share: 'media', readonly: true });
  for (const bad of ['', ':ro', 'media:', 'media:rw', 'media:ro:ro']) expect(() => parseShare(bad)).toThrow(/--share/);
});

describe('what guests are given', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'guest-data-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('is read byte for byte, and counted as the user counts', async () => {
    const file = join(dir, 'data');
    await writeFile(file, Buffer.from([0x1f, 0x8b, 0, 255]));
    expect(await readUserData(file)).toBe('H4sA/w==');
    await expect(readVendorData(file)).rejects.toThrow(/no text in UTF-8/);
    await writeFile(file, Buffer.alloc(65_536, 'ü'));
    expect((await readVendorData(file)).length).toBe(32_768);
    await writeFile(file, Buffer.alloc(65_537));
    await expect(readUserData(file)).rejects.toThrow(/has 65537 bytes, at most 65536/);
    await expect(readUserData(join(dir, 'none'))).rejects.toThrow(/--user-data: there is no file/);
  });

  it('is shown file by file, with JSON on several lines', () => {
    const data = {
      hostname: 'web',
      files: [
        { path: 'a/meta_data.json', bytes: 9, text: '{"a":"b"}' },
        { path: 'a/user_data', bytes: 2, text: null },
      ],
    };
    expect(guestDataView(data)).toEqual([
      { facts: [{ label: 'Hostname', value: 'web' }] },
      { title: 'a/meta_data.json (9 B)', facts: ['{', '  "a": "b"', '}'].map((value) => ({ label: '', value })) },
      { title: 'a/user_data (2 B)', facts: [{ label: '', value: 'This is no text.' }] },
    ]);
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
    for (const value of [join(dir, 'me.pub'), './key', '~/.ssh/none', 'none.pub', dir])
      await expect(keyOrName(value)).rejects.toThrow(/^--key: there is no file .*ssh-keygen/);
  });

  it('are never private keys, several keys, nothing or a whole disk', async () => {
    const file = join(dir, 'key');
    for (const content of [
      '-----BEGIN OPENSSH PRIVATE KEY-----\nx\n',
      'ssh-rsa A\nssh-rsa B\n',
      '\n',
      'x'.repeat(20_000),
    ]) {
      await writeFile(file, content);
      await expect(readPublicKey(file)).rejects.toThrow(file);
    }
    await expect(readPublicKey(join(dir, 'none'))).rejects.toThrow(/there is no file/);
  });
});
