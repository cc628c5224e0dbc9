import { Problem } from '../../../core/errors/problem';
import { isKeyText, parsePublicKey } from './public-key';

const ed25519 = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl user@example';

describe('public keys', () => {
  it('keeps type, comment and fingerprint', () => {
    expect(parsePublicKey(`${ed25519}\n`, 'body.publicKey')).toEqual({ type: 'ssh-ed25519', text: ed25519, fingerprint: expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/) });
  });
  it.each(['', 'ssh-ed25519', 'ssh-ed25519 not-base64!', '-----BEGIN OPENSSH PRIVATE KEY-----', `${ed25519}\n${ed25519}`, 'ssh-rsa AAAA'])('refuses %j with the field', (text) => {
    expect(() => parsePublicKey(text, 'body.publicKey')).toThrow(Problem);
    try {
      parsePublicKey(text, 'body.publicKey');
    } catch (error) {
      expect(error).toMatchObject({ status: 422, code: 'invalid_ssh_key', errors: [{ path: 'body.publicKey' }] });
    }
  });
  it('tells keys from names', () => {
    expect(isKeyText(ed25519)).toBe(true);
    expect(isKeyText('my laptop')).toBe(false);
  });
});
