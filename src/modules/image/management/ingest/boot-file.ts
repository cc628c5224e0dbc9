import { ImageRefused } from '../import/image-refused';
import type { BootPart } from './boot-parts';
import { inspectElfKernel } from './elf-kernel';
import { foreignFormat, startsWith } from './foreign-formats';
import type { ImageReader } from './image-reader';

const headBytes = 1024;
/** Of the boot protocol of Linux for x86, which its header names. */
const bzImage = {
  magic: 'HdrS',
  at: 0x202,
  version: 0x206,
  setupSectors: 0x1f1,
  size: 0x1f4,
  load: 0x211,
  wide: 0x236,
};
/** 2.12, of Linux 3.8: from there on it says whether the kernel is one of 64 bits. */
const lowestProtocol = 0x020c;
const sectorBytes = 512;

/**
 * Refuses a file that no VMM could boot with, by our own reading of its header, before a VMM sees it. Throws
 * `ImageRefused`. What is packed in it is not unpacked: its guest does that.
 */
export const inspectBootFile = async (reader: ImageReader, part: BootPart): Promise<void> => {
  if (reader.bytes === 0) throw new ImageRefused('image_empty', `The ${part} has no bytes.`);
  const head = await reader.read(0, Math.min(reader.bytes, headBytes));
  if (part === 'kernel') await inspectKernel(reader, head);
  else inspectInitramfs(head);
};

const inspectKernel = async (reader: ImageReader, head: Buffer): Promise<void> => {
  if (startsWith(head, 0, '\x7fELF')) return inspectElfKernel(reader, head);
  if (startsWith(head, bzImage.at, bzImage.magic)) return inspectBzImage(reader, head);
  const ofArm = startsWith(head, 0x38, 'ARM\x64') || startsWith(head, 4, 'zimg');
  if (ofArm || startsWith(head, 0x38, 'RSC\x05'))
    throw new ImageRefused('kernel_architecture', 'The kernel is not one for x86-64: send one that is.');
  if (startsWith(head, 0, 'MZ'))
    throw new ImageRefused(
      'not_a_kernel',
      'The file is an EFI program, such as a unified kernel image: put it on the EFI partition of the disk, or send the kernel in it.',
    );
  const foreign = head.length < sectorBytes ? null : foreignFormat(head, Buffer.alloc(0));
  throw new ImageRefused(
    'not_a_kernel',
    `The file is no kernel: send a bzImage (/boot/vmlinuz-...) or an ELF file (vmlinux). ${foreign?.replace('The image', 'It').split('. ')[0] ?? ''}`
      .trim()
      .replace(/([^.])$/, '$1.'),
  );
};

const inspectBzImage = (reader: ImageReader, head: Buffer): void => {
  if (head.length < headBytes) throw truncated(reader.bytes, headBytes);
  if (head.readUInt16LE(bzImage.version) < lowestProtocol || (head.readUInt8(bzImage.load) & 1) === 0)
    throw new ImageRefused('not_a_kernel', 'The kernel is too old: one of Linux 3.8 or newer is needed.');
  if ((head.readUInt16LE(bzImage.wide) & 1) === 0)
    throw new ImageRefused('kernel_architecture', 'The kernel is one of 32 bits: send one for x86-64.');
  // No sectors at all are said by kernels of before, and mean four.
  const setup = ((head.readUInt8(bzImage.setupSectors) || 4) + 1) * sectorBytes;
  const whole = setup + head.readUInt32LE(bzImage.size) * 16;
  if (reader.bytes < whole) throw truncated(reader.bytes, whole);
};

const truncated = (bytes: number, whole: number): ImageRefused =>
  new ImageRefused(
    'image_truncated',
    `The kernel is cut off: its header tells of ${whole} bytes, and it has ${bytes}. Send it anew.`,
  );

/** What an initramfs begins with that Linux unpacks; several may follow each other, which only the first tells. */
const beginnings = [
  '070701',
  '070702',
  '\x1f\x8b',
  '\xfd7zXZ\0',
  '\x28\xb5\x2f\xfd',
  'BZh',
  '\x02\x21\x4c\x18',
  '\x89LZO\0',
  '\x5d\0\0',
];

const inspectInitramfs = (head: Buffer): void => {
  if (beginnings.some((bytes) => startsWith(head, 0, bytes))) return;
  throw new ImageRefused(
    'not_an_initramfs',
    'The file is no initramfs: send a cpio archive (newc), packed by gzip, xz, zstd, lz4, lzo, bzip2 or lzma, or not packed.',
  );
};
