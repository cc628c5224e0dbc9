import { ImageRefused } from '../import/image-refused';
import { noDisk } from './disk-evidence';
import { foreignFormat, startsWith } from './foreign-formats';
import { inspectQcow2 } from './qcow2-header';
import type { ImageReader } from './image-reader';

export interface ImageFacts {
  format: 'raw' | 'qcow2';
  /** Size of the disk as the header says, or of the file when raw; not rounded. */
  virtualBytes: number;
  /** Of these, at most so many are data: what unfolding it writes. */
  dataBytes: number;
}

const footerBytes = 512;

/**
 * What an image file is, by our own reading of its header, before any other program sees it. Throws `ImageRefused` and
 * nothing else but what the reader throws. Never reads or allocates by a size that the file claims without a limit of
 * ours.
 * @param claimed the format that the user named; a header that says otherwise is refused
 * @param maxVirtualBytes largest disk that the image may unfold to
 */
export const inspectImage = async (
  reader: ImageReader,
  claimed: 'raw' | 'qcow2' | null,
  maxVirtualBytes: number,
): Promise<ImageFacts> => {
  if (reader.bytes === 0) throw new ImageRefused('image_empty', 'The image has no bytes.');
  const head = await reader.read(0, Math.min(reader.bytes, 512));
  if (startsWith(head, 0, 'QFI\xfb')) {
    if (claimed === 'raw')
      throw new ImageRefused('format_mismatch', 'The image is said to be raw, but has the header of a qcow2 image.');
    return { format: 'qcow2', ...(await inspectQcow2(reader, maxVirtualBytes)) };
  }
  if (claimed === 'qcow2')
    throw new ImageRefused('format_mismatch', 'The image is said to be qcow2, but does not have its header.');
  const tail =
    reader.bytes > footerBytes ? await reader.read(reader.bytes - footerBytes, footerBytes) : Buffer.alloc(0);
  const foreign = foreignFormat(head, tail);
  if (foreign !== null) throw new ImageRefused('unsupported_format', foreign);
  const fault = await noDisk(head, reader);
  if (fault !== null) throw new ImageRefused('not_a_disk', fault);
  if (reader.bytes > maxVirtualBytes)
    throw new ImageRefused(
      'image_too_large',
      `The disk has ${reader.bytes} bytes, and at most ${maxVirtualBytes} are allowed.`,
    );
  return { format: 'raw', virtualBytes: reader.bytes, dataBytes: reader.bytes };
};
