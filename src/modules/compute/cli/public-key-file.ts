import { readFile, stat } from 'node:fs/promises';
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

/** The key in the file of that name when there is one; else the name of a stored key as it is. */
export const keyOrName = async (value: string): Promise<string> => {
  const isFile = await stat(value).then(
    (info) => info.isFile(),
    () => false,
  );
  return isFile ? readPublicKey(value) : value;
};
