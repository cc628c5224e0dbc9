import { readFile } from 'node:fs/promises';
import { usageFailure } from '../cli-failure';

/** What a file holds that an option names; `-` reads standard input. Refuses more than `maxBytes`. */
export const readBytes = async (file: string, option: string, maxBytes: number): Promise<Buffer> => {
  const content = await readFile(file === '-' ? '/dev/stdin' : file).catch((error: NodeJS.ErrnoException) => {
    throw usageFailure(error.code === 'ENOENT' ? `${option}: there is no file ${file}` : `${option}: ${error.message}`);
  });
  if (content.length > maxBytes)
    throw usageFailure(`${option}: ${file} has ${content.length} bytes, at most ${maxBytes} are taken`);
  return content;
};

/** The same of a file that must be text in UTF-8. */
export const readText = async (file: string, option: string, maxBytes: number): Promise<string> => {
  const content = await readBytes(file, option, maxBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw usageFailure(`${option}: ${file} is no text in UTF-8`);
  }
};
