import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { MasterKey, SealError } from './master-key';

describe('MasterKey', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'master-key-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('is made once, private, and the same for all processes that start together', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => MasterKey.load(join(dir, 'management'))));
    expect(new Set(keys.map((k) => k.id)).size).toBe(1);
    expect((await stat(join(dir, 'management', 'master.key'))).mode & 0o777).toBe(0o600);
    expect(await readdir(join(dir, 'management'))).toEqual(['master.key']);
  });

  it('opens what it sealed, and only for the same purpose', () => {
    const key = new MasterKey(randomBytes(32));
    const sealed = key.seal('hello', 'a');
    expect(sealed).not.toContain('hello');
    expect(key.open(sealed, 'a').toString()).toBe('hello');
    expect(() => key.open(sealed, 'b')).toThrow(SealError);
    expect(key.seal('hello', 'a')).not.toBe(sealed);
  });

  it('refuses damaged values and other keys', () => {
    const key = new MasterKey(randomBytes(32));
    const sealed = key.seal('hello', 'a');
    const last = sealed.at(-1) === 'A' ? 'B' : 'A';
    expect(() => key.open(`${sealed.slice(0, -1)}${last}`, 'a')).toThrow(SealError);
    expect(() => new MasterKey(randomBytes(32)).open(sealed, 'a')).toThrow(/sealed with master key/);
    for (const bad of ['', 'v1', 'v1..', 'v2.x.y', `v1.${key.id}.AAAA`])
      expect(() => key.open(bad, 'a')).toThrow(SealError);
  });
});
