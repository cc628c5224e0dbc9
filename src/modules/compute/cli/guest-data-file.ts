import { readFile } from 'node:fs/promises';
import { usageFailure } from '../../../core/cli/cli-failure';

/** As the API has it: of user data and of vendor data. */
const maxGuestDataBytes = 65_536;

const read = async (file: string, option: string): Promise<Buffer> => {
  const content = await readFile(file === '-' ? '/dev/stdin' : file).catch((error: NodeJS.ErrnoException) => {
    throw usageFailure(error.code === 'ENOENT' ? `${option}: there is no file ${file}` : `${option}: ${error.message}`);
  });
  if (content.length > maxGuestDataBytes) throw usageFailure(`${option}: ${file} has ${content.length} bytes, at most ${maxGuestDataBytes} are taken`);
  return content;
};

/** User data of whatever kind, in base64 as the API takes it; `-` reads standard input. */
export const readUserData = async (file: string): Promise<string> => (await read(file, '--user-data')).toString('base64');

/** Vendor data, which is text. */
export const readVendorData = async (file: string): Promise<string> => {
  const content = await read(file, '--vendor-data');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw usageFailure(`--vendor-data: ${file} is no text in UTF-8`);
  }
};
