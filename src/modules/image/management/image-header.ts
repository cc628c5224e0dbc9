import { ImageRefused } from './image-refused';
import { inspectQcow2 } from './qcow2-header';
import type { ImageReader } from './image-reader';

export interface ImageFacts {
  format: 'raw' | 'qcow2';
  /** Size of the disk as the header says, or of the file when raw; not rounded. */
  virtualBytes: number;
}

/** Formats that are known by their first bytes and not taken: converting them is the user's, for each has its own traps. */
const signatures: { at: number; bytes: string; name: string }[] = [
  { at: 0, bytes: 'KDMV', name: 'VMDK' },
  { at: 0, bytes: 'COWD', name: 'VMDK' },
  { at: 0, bytes: '# Disk DescriptorFile', name: 'a VMDK descriptor' },
  { at: 0, bytes: 'vhdxfile', name: 'VHDX' },
  { at: 0, bytes: 'conectix', name: 'VHD' },
  { at: 0x40, bytes: '\x7f\x10\xda\xbe', name: 'VDI' },
  { at: 0, bytes: 'QED\0', name: 'QED' },
  { at: 0, bytes: 'LUKS\xba\xbe', name: 'a LUKS volume (encrypted)' },
  { at: 0, bytes: '\x1f\x8b\x08', name: 'gzip (unpack it first)' },
  { at: 0, bytes: '\xfd7zXZ\0', name: 'xz (unpack it first)' },
  { at: 0, bytes: '\x28\xb5\x2f\xfd', name: 'zstd (unpack it first)' },
  { at: 0, bytes: 'BZh9', name: 'bzip2 (unpack it first)' },
  { at: 0, bytes: 'PK\x03\x04', name: 'zip (unpack it first)' },
  { at: 0, bytes: '7z\xbc\xaf\x27\x1c', name: '7z (unpack it first)' },
  { at: 257, bytes: 'ustar', name: 'a tar archive or OVA (unpack it first)' },
];
const vhdFooterBytes = 512;

const startsWith = (buffer: Buffer, at: number, bytes: string): boolean => buffer.subarray(at, at + bytes.length).equals(Buffer.from(bytes, 'latin1'));

/**
 * What an image file is, by our own reading of its header, before any other program sees it. Throws `ImageRefused` and nothing else
 * but what the reader throws. Never reads or allocates by a size that the file claims without a limit of ours.
 * @param claimed the format that the user named; a header that says otherwise is refused
 * @param maxVirtualBytes largest disk that the image may unfold to
 */
export const inspectImage = async (reader: ImageReader, claimed: 'raw' | 'qcow2' | null, maxVirtualBytes: number): Promise<ImageFacts> => {
  if (reader.bytes === 0) throw new ImageRefused('image_empty', 'The image has no bytes.');
  const head = await reader.read(0, Math.min(reader.bytes, 512));
  if (startsWith(head, 0, 'QFI\xfb')) {
    if (claimed === 'raw') throw new ImageRefused('format_mismatch', 'The image is said to be raw, but has the header of a qcow2 image.');
    return { format: 'qcow2', virtualBytes: await inspectQcow2(reader, maxVirtualBytes) };
  }
  if (claimed === 'qcow2') throw new ImageRefused('format_mismatch', 'The image is said to be qcow2, but does not have its header.');
  const known = signatures.find((s) => startsWith(head, s.at, s.bytes));
  if (known) throw new ImageRefused('unsupported_format', `The image is ${known.name}. Images must be raw or qcow2: convert it with qemu-img convert -O qcow2.`);
  const tail = reader.bytes > vhdFooterBytes ? await reader.read(reader.bytes - vhdFooterBytes, 8) : Buffer.alloc(0);
  if (startsWith(tail, 0, 'conectix')) throw new ImageRefused('unsupported_format', 'The image is VHD. Images must be raw or qcow2: convert it with qemu-img convert -O qcow2.');
  if (reader.bytes > maxVirtualBytes) throw new ImageRefused('image_too_large', `The disk has ${reader.bytes} bytes, and at most ${maxVirtualBytes} are allowed.`);
  return { format: 'raw', virtualBytes: reader.bytes };
};
