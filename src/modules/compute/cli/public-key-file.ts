import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { usageFailure } from '../../../core/cli/cli-failure';

const maxBytes = 16_384;

/** The public key in a file. Refuses a private key before anything is sent. */
export const readPublicKey = async (file: string): Promise<string> => {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usageFailure(error.code === 'ENOENT' ? `there is no file ${file}` : `${file}: ${error.message}`);
  });
  if (/PRIVATE KEY/.test(text)) throw usageFailure(`${file} holds a private key; name the .pub file`);
  if (text.length > maxBytes) throw usageFailure(`${file} is too large for a public key`);
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const [key, second] = lines;
  if (key === undefined || second !== undefined) throw usageFailure(`${file} must hold exactly one public key`);
  return key.trim();
};

/** Written as one writes a file, not as a name (which may hold a slash). */
const meansFile = (value: string): boolean => /^(~|\.{0,2}\/)/.test(value) || value.endsWith('.pub');

/** A whole key, which the server takes as well. */
const isKey = (value: string): boolean => /^(ssh-|ecdsa-|sk-)\S+ \S/.test(value);

/**
 * What `--key` means: the key in the file of that name when there is one; else the name of a stored key. What can only
 * be a file must be there.
 */
export const keyOrName = async (value: string): Promise<string> => {
  if (isKey(value)) return value;
  const file = value.startsWith('~/') ? join(homedir(), value.slice(2)) : value;
  const isFile = await stat(file).then(
    (info) => info.isFile(),
    () => false,
  );
  if (isFile) return readPublicKey(file);
  if (meansFile(value)) throw usageFailure(`--key: there is no file ${file}; a key is made by: ssh-keygen -t ed25519`);
  return value;
};
