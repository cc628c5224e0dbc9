import { startsWith } from './foreign-formats';
import type { ImageReader } from './image-reader';

const sectorBytes = 512;
/** Where a GPT's header stands, by the sector size of the disk that it was made for. */
const gptAt = [512, 4096];
/** ISO 9660: the first volume descriptor, after 16 sectors of 2 KiB. */
const isoAt = 32_768 + 1;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The beginning of a text; disks do not begin so. `head` may end within a character. */
const isText = (head: Buffer): boolean => {
  if (/[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]/.test(head.toString('latin1'))) return false;
  for (const cut of [0, 1, 2, 3]) {
    try {
      return utf8.decode(head.subarray(0, head.length - cut)).trim().length > 0;
    } catch {
      // Perhaps only the last character is cut off.
    }
  }
  return false;
};

const bootable = async (head: Buffer, reader: ImageReader): Promise<boolean> => {
  if (head.length >= sectorBytes && head.readUInt16LE(510) === 0xaa55) return true;
  for (const at of gptAt) if (startsWith(await reader.read(at, 8), 0, 'EFI PART')) return true;
  return startsWith(await reader.read(isoAt, 5), 0, 'CD001');
};

/**
 * Why these bytes can be no disk, in words; null when they can. A disk has something that a firmware could boot, or at
 * least whole sectors, and does not begin as a text.
 */
export const noDisk = async (head: Buffer, reader: ImageReader): Promise<string | null> => {
  const text = isText(head);
  const whole = reader.bytes % sectorBytes === 0;
  if ((whole && !text) || (await bootable(head, reader))) return null;
  const html = /^\s*<(!doctype html|html|head|body|\?xml)/i.test(head.toString('latin1'));
  const looks = html
    ? 'They look like a web page.'
    : text
      ? 'They look like a text.'
      : `They are ${reader.bytes}, which is no whole number of sectors.`;
  return `The bytes are no disk: there is nothing in them that a firmware could boot. ${looks}`;
};
