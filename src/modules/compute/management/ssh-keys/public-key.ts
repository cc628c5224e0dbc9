import { createHash, createPublicKey } from 'node:crypto';
import { unprocessable } from '../../../../core/errors/problem';
import { isPublicKeyType, publicKeyTypes, type PublicKeyType } from '../../contract/public-key-types';
import { SshWire } from './ssh-wire';

export interface PublicKey {
  /** E.g. `ssh-ed25519`. */
  type: string;
  /** `SHA256:...` as ssh-keygen prints it. */
  fingerprint: string;
  /** One line in OpenSSH form, comment kept. */
  text: string;
}

/** OpenSSH's bounds of an RSA key, in bits. */
const rsaBits = { least: 1024, most: 16_384 } as const;
const curves: Readonly<Record<string, { crv: string; bytes: number }>> = {
  nistp256: { crv: 'P-256', bytes: 32 },
  nistp384: { crv: 'P-384', bytes: 48 },
  nistp521: { crv: 'P-521', bytes: 66 },
};

const rsa = (wire: SshWire): void => {
  const exponent = wire.mpint();
  const modulus = wire.mpint();
  const bits = modulus.length === 0 ? 0 : modulus.length * 8 - Math.clz32(modulus[0] ?? 0) + 24;
  if (exponent.length === 0 || bits < rsaBits.least || bits > rsaBits.most)
    throw new Error(`an RSA key has ${rsaBits.least} to ${rsaBits.most} bits`);
};

/** Throws for a point that is not on its curve. */
const ecdsa = (wire: SshWire, name: string): void => {
  const curve = curves[name];
  if (!curve || wire.string().toString('latin1') !== name)
    throw new Error('the curve is not the one that the type names');
  const point = wire.string();
  if (point.length !== 1 + 2 * curve.bytes || point[0] !== 4) throw new Error('no uncompressed point of the curve');
  createPublicKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: curve.crv,
      x: point.subarray(1, 1 + curve.bytes).toString('base64url'),
      y: point.subarray(1 + curve.bytes).toString('base64url'),
    },
  });
};

const ed25519 = (wire: SshWire): void => {
  if (wire.string().length !== 32) throw new Error('an Ed25519 key has 32 bytes');
};

/**
 * What follows the type in a key's binary form. `sk-`: the key is in a security token, and names the application that
 * it is for.
 */
const bodies: Readonly<Record<PublicKeyType, (wire: SshWire) => void>> = {
  'ssh-rsa': rsa,
  'ssh-ed25519': ed25519,
  'ecdsa-sha2-nistp256': (wire) => ecdsa(wire, 'nistp256'),
  'ecdsa-sha2-nistp384': (wire) => ecdsa(wire, 'nistp384'),
  'ecdsa-sha2-nistp521': (wire) => ecdsa(wire, 'nistp521'),
  'sk-ssh-ed25519@openssh.com': (wire) => {
    ed25519(wire);
    wire.string();
  },
  'sk-ecdsa-sha2-nistp256@openssh.com': (wire) => {
    ecdsa(wire, 'nistp256');
    wire.string();
  },
};

/** True for text that is meant as a whole key rather than as the name of a stored one. */
export const isKeyText = (text: string): boolean => /^(ssh-|ecdsa-|sk-)\S*\s/.test(text.trim());

/**
 * Parses one public key in OpenSSH form, of the types that `ssh-keygen -l` takes and an sshd of today lets in (no DSA,
 * no certificates). 422 `invalid_ssh_key` at `path` for anything else, private keys, several lines and bytes behind the
 * key included.
 */
export const parsePublicKey = (text: string, path: string): PublicKey => {
  const line = text.trim();
  const refuse = (why = 'This is no public key in OpenSSH form, such as the contents of ~/.ssh/id_ed25519.pub.') =>
    unprocessable(path, 'invalid_ssh_key', why);
  if (!isKeyText(line) || /[\u0000-\u0008\u000a-\u001f\u007f]/.test(line)) throw refuse();
  const [type = '', encoded = ''] = line.split(/[ \t]+/);
  const body = isPublicKeyType(type) ? bodies[type] : undefined;
  if (!body) throw refuse(`Keys of type ${type.slice(0, 60)} are not taken. Types: ${publicKeyTypes.join(', ')}.`);
  const blob = Buffer.from(encoded, 'base64');
  if (blob.toString('base64') !== encoded) throw refuse();
  try {
    const wire = new SshWire(blob);
    if (wire.string().toString('latin1') !== type) throw new Error('the key is of another type than its line says');
    body(wire);
    wire.end();
  } catch (error) {
    throw refuse(`This is no valid ${type} key: ${error instanceof Error ? error.message : String(error)}.`);
  }
  return {
    type,
    fingerprint: `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`,
    text: line,
  };
};
