import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withFileLock } from './file-lock';
import { configPath, pickProfile, ProfileStore } from './profile-store';

describe('ProfileStore', () => {
  let dir: string;
  let store: ProfileStore;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'vcctl-'));
    store = new ProfileStore(join(dir, 'deep', 'config.yaml'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('starts empty, keeps what it is given in a private YAML file, and leaves nothing beside it', async () => {
    expect(await store.load()).toEqual({ profiles: [] });
    const ca = '-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n';
    await store.update((file) => {
      file.profiles.push({ name: 'local', url: 'https://127.0.0.1:8443', ca });
      file.current = 'local';
    });
    expect(await store.load()).toEqual({
      current: 'local',
      profiles: [{ name: 'local', url: 'https://127.0.0.1:8443', ca }],
    });
    expect((await stat(store.path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(dir, 'deep'))).mode & 0o777).toBe(0o700);
    expect(await readFile(store.path, 'utf8')).toContain('current: local');
    expect(await readdir(join(dir, 'deep'))).toEqual(['config.yaml']);
  });

  it('loses no change of others', async () => {
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        store.update((file) => void file.profiles.push({ name: `p${i}`, url: 'https://x' })),
      ),
    );
    expect((await store.load()).profiles).toHaveLength(10);
  });

  it('keeps the file when a change fails', async () => {
    await store.update((file) => void file.profiles.push({ name: 'a', url: 'https://x' }));
    await expect(store.update(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect((await store.load()).profiles).toHaveLength(1);
  });

  it.each([
    '[',
    'a: [1',
    '- 1',
    'profiles: 3',
    'profiles:\n  - 3',
    'profiles:\n  - name: x',
    'profiles:\n  - name: x\n    url: 3',
    'current: 3',
  ])('refuses %j with the file named', async (text) => {
    const path = join(dir, 'config.yaml');
    await writeFile(path, text);
    await expect(new ProfileStore(path).load()).rejects.toThrow(path);
  });

  it('picks by name, else the current one', () => {
    const a = { name: 'a', url: 'https://a' };
    const b = { name: 'b', url: 'https://b' };
    expect(pickProfile({ current: 'a', profiles: [a, b] }, undefined)).toBe(a);
    expect(pickProfile({ current: 'a', profiles: [a, b] }, 'b')).toBe(b);
    expect(() => pickProfile({ profiles: [a] }, 'c')).toThrow(/no profile "c"/);
    expect(() => pickProfile({ profiles: [] }, undefined)).toThrow(/not logged in/);
  });

  it('takes its place from the environment', () => {
    expect(configPath({ VCCTL_CONFIG: '/x/y.yaml' })).toBe('/x/y.yaml');
    expect(configPath({ XDG_CONFIG_HOME: '/x' })).toBe('/x/vc-stack/config.yaml');
    expect(configPath({})).toMatch(/\.config\/vc-stack\/config\.yaml$/);
  });
});

describe('withFileLock', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'lock-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('takes over the lock of a process that has ended, and an old one, but no live one', async () => {
    const file = join(dir, 'f');
    await writeFile(`${file}.lock`, '4194304\n');
    expect(await withFileLock(file, async () => 'dead')).toBe('dead');
    await writeFile(`${file}.lock`, `${process.pid}\n`);
    await expect(withFileLock(file, async () => 'x', 120)).rejects.toThrow(/is held by another/);
    const old = new Date(Date.now() - 120_000);
    await utimes(`${file}.lock`, old, old);
    expect(await withFileLock(file, async () => 'old')).toBe('old');
    expect(await readdir(dir)).toEqual([]);
  });
});
