import { parseKey, type Key } from 'sshpk';
import { unprocessable } from '../../../core/errors/problem';

export interface PublicKey {
  /** E.g. `ssh-ed25519`. */
  type: string;
  /** `SHA256:...` as ssh-keygen prints it. */
  fingerprint: string;
  /** One line in OpenSSH form, comment kept. */
  text: string;
}

/** True for text that is meant as a whole key rather than as the name of a stored one. */
export const isKeyText = (text: string): boolean => /^(ssh-|ecdsa-|sk-)\S* /.test(text.trim());

/** Parses one public key in OpenSSH form. 422 `invalid_ssh_key` at `path` for anything else, private keys and several lines included. */
export const parsePublicKey = (text: string, path: string): PublicKey => {
  const line = text.trim();
  const refuse = () => unprocessable(path, 'invalid_ssh_key', 'This is no public key in OpenSSH form, such as the contents of ~/.ssh/id_ed25519.pub.');
  if (!isKeyText(line) || /[\r\n\u0000]/.test(line)) throw refuse();
  let key: Key;
  try {
    key = parseKey(line, 'ssh');
  } catch {
    throw refuse();
  }
  return { type: line.split(/\s+/)[0] ?? key.type, fingerprint: key.fingerprint('sha256').toString(), text: line };
};
