import { spawnSync } from 'node:child_process';
import { createECDH, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Problem } from '../../../../core/errors/problem';
import { isKeyText, parsePublicKey } from './public-key';

const ed25519 = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl user@example';

const field = (value: string | Buffer): Buffer => {
  const bytes = Buffer.from(value as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};
/** A line of this type with these fields, and maybe bytes behind them. */
const line = (type: string, fields: (string | Buffer)[], behind = Buffer.alloc(0), inner = type): string =>
  `${type} ${Buffer.concat([field(inner), ...fields.map(field), behind]).toString('base64')}`;

const secret = Buffer.alloc(32, 7);
const point = (curve: string): Buffer => createECDH(curve).generateKeys();
const rsaParts = (bits: number): [Buffer, Buffer] => {
  const jwk = generateKeyPairSync('rsa', { modulusLength: bits }).publicKey.export({ format: 'jwk' });
  return [
    Buffer.from(jwk.e ?? '', 'base64url'),
    Buffer.concat([Buffer.alloc(1), Buffer.from(jwk.n ?? '', 'base64url')]),
  ];
};
const bent = (curve: string): Buffer => {
  const bytes = point(curve);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  return bytes;
};

const good: Record<string, string> = {
  'an Ed25519 key': ed25519,
  'an RSA key of 2048 bits': line('ssh-rsa', rsaParts(2048)),
  'an RSA key of 1024 bits': line('ssh-rsa', rsaParts(1024)),
  'a P-256 key': line('ecdsa-sha2-nistp256', ['nistp256', point('prime256v1')]),
  'a P-384 key': line('ecdsa-sha2-nistp384', ['nistp384', point('secp384r1')]),
  'a P-521 key': line('ecdsa-sha2-nistp521', ['nistp521', point('secp521r1')]),
  'an Ed25519 key in a token': line('sk-ssh-ed25519@openssh.com', [secret, 'ssh:']),
  'a P-256 key in a token': line('sk-ecdsa-sha2-nistp256@openssh.com', ['nistp256', point('prime256v1'), 'ssh:']),
  'a comment with spaces and letters of all kinds': `${ed25519} Ünïcode of mine`,
  'a tab between type and key': ed25519.replace(' ', '\t'),
};
const bad: Record<string, string> = {
  'bytes behind the key': line('ssh-ed25519', [secret], Buffer.from([0])),
  'bytes behind a key in a token': line('sk-ssh-ed25519@openssh.com', [secret, 'ssh:', 'x']),
  'a token without application': line('sk-ssh-ed25519@openssh.com', [secret]),
  'an RSA key of 768 bits': line('ssh-rsa', rsaParts(768)),
  'a negative modulus': line('ssh-rsa', [Buffer.from([1, 0, 1]), Buffer.alloc(256, 0xff)]),
  'an Ed25519 key of 31 bytes': line('ssh-ed25519', [secret.subarray(1)]),
  'a point that is not on its curve': line('ecdsa-sha2-nistp256', ['nistp256', bent('prime256v1')]),
  'another curve than its type': line('ecdsa-sha2-nistp256', ['nistp384', point('secp384r1')]),
  'another type inside': line('ssh-ed25519', [secret], undefined, 'ssh-rsa'),
  'a field longer than the key': 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5////',
  'base64 that stops short': ed25519.replace(/GKJl .*/, 'GKJ'),
  'characters that are no base64': 'ssh-ed25519 not-base64!',
  'nothing behind the type': 'ssh-rsa AAAA',
  'an unknown type': line('ssh-ed448', [Buffer.alloc(57, 1)]),
};
/** These ssh-keygen might take, for it reads files; a key of ours is one line, and one that lets somebody in. */
const oneLineOnly: Record<string, string> = {
  nothing: '',
  'a type alone': 'ssh-ed25519',
  'a private key': '-----BEGIN OPENSSH PRIVATE KEY-----',
  'two keys': `${ed25519}\n${ed25519}`,
  'a control character in the comment': `${ed25519}\u0007`,
  'a DSA key': line('ssh-dss', [Buffer.alloc(128, 1), Buffer.alloc(20, 1), Buffer.alloc(128, 1), Buffer.alloc(128, 1)]),
};

describe('public keys', () => {
  const directory = mkdtempSync(join(tmpdir(), 'vcs-keys-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  /** What `ssh-keygen -l` says of it; null when it refuses. */
  const sshKeygen = (text: string): string | null => {
    const file = join(directory, 'key.pub');
    writeFileSync(file, `${text}\n`);
    const { status, stdout } = spawnSync('ssh-keygen', ['-l', '-f', file], { encoding: 'utf8' });
    return status === 0 ? (/SHA256:\S+/.exec(stdout)?.[0] ?? null) : null;
  };

  it('keeps type, comment and fingerprint', () => {
    expect(parsePublicKey(`${ed25519}\n`, 'body.publicKey')).toEqual({
      type: 'ssh-ed25519',
      text: ed25519,
      fingerprint: 'SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU',
    });
  });
  it.each(Object.keys(good))('takes %s as ssh-keygen does', (what) => {
    const text = good[what] ?? '';
    expect(sshKeygen(text)).not.toBeNull();
    expect(parsePublicKey(text, 'body.publicKey')).toEqual({
      type: text.split(/\s/)[0],
      text,
      fingerprint: sshKeygen(text),
    });
  });
  it.each(Object.keys(bad))('refuses %s as ssh-keygen does', (what) => {
    expect(sshKeygen(bad[what] ?? '')).toBeNull();
    expect(() => parsePublicKey(bad[what] ?? '', 'body.publicKey')).toThrow(Problem);
  });
  it.each(Object.keys(oneLineOnly))('refuses %s with the field', (what) => {
    expect.assertions(1);
    try {
      parsePublicKey(oneLineOnly[what] ?? '', 'body.publicKey');
    } catch (error) {
      expect(error).toMatchObject({ status: 422, code: 'invalid_ssh_key', errors: [{ path: 'body.publicKey' }] });
    }
  });
  it('tells keys from names', () => {
    expect(isKeyText(ed25519)).toBe(true);
    expect(isKeyText(good['an Ed25519 key in a token'] ?? '')).toBe(true);
    expect(isKeyText('my laptop')).toBe(false);
  });
});
