import { ImageRefused } from '../import/image-refused';
import { startsWith } from './foreign-formats';
import type { ImageReader } from './image-reader';

const headerBytes = 64;
const entryBytes = 56;
/** Real ones have some ten. */
const maxEntries = 128;
/** Real ones have some hundred bytes. */
const maxNotes = 65_536;
const machine = 62;
const loaded = 1;
const notes = 4;
/** XEN_ELFNOTE_PHYS32_ENTRY: where a VMM enters the kernel (PVH). */
const entryNote = 18;

interface Segment {
  type: number;
  offset: number;
  bytes: number;
}

/**
 * A kernel as an ELF file of x86-64 that has an entry for VMMs (PVH). Throws `ImageRefused`. Never reads by a size that
 * the file claims without a limit of ours.
 */
export const inspectElfKernel = async (reader: ImageReader, head: Buffer): Promise<void> => {
  if (head.length < headerBytes) throw cutOff();
  if (head.readUInt8(4) !== 2 || head.readUInt8(5) !== 1 || head.readUInt16LE(18) !== machine)
    throw new ImageRefused('kernel_architecture', 'The kernel is not one for x86-64: send one that is.');
  if (![2, 3].includes(head.readUInt16LE(16)))
    throw new ImageRefused('not_a_kernel', 'The file is an ELF file that cannot be started, and so no kernel.');
  const segments = await readSegments(reader, head);
  for (const { offset, bytes } of segments) if (offset + bytes > reader.bytes) throw cutOff();
  if (!segments.some(({ type, bytes }) => type === loaded && bytes > 0))
    throw new ImageRefused('not_a_kernel', 'The file is an ELF file with nothing to load, and so no kernel.');
  for (const segment of segments.filter(({ type }) => type === notes))
    if (hasEntry(await reader.read(segment.offset, Math.min(segment.bytes, maxNotes)))) return;
  throw new ImageRefused(
    'not_a_kernel',
    'The kernel has no entry for virtual machines (PVH): build it with CONFIG_PVH, or send a bzImage (/boot/vmlinuz-...).',
  );
};

const readSegments = async (reader: ImageReader, head: Buffer): Promise<Segment[]> => {
  const at = safe(head.readBigUInt64LE(32));
  const size = head.readUInt16LE(54);
  const count = head.readUInt16LE(56);
  if (size !== entryBytes || count === 0 || count > maxEntries)
    throw new ImageRefused('not_a_kernel', 'The file is an ELF file without a table of what to load.');
  const table = await reader.read(at, count * entryBytes);
  if (table.length < count * entryBytes) throw cutOff();
  return Array.from({ length: count }, (_, index) => {
    const entry = table.subarray(index * entryBytes);
    return {
      type: entry.readUInt32LE(0),
      offset: safe(entry.readBigUInt64LE(8)),
      bytes: safe(entry.readBigUInt64LE(32)),
    };
  });
};

/** Beyond what a number holds lies no file: larger than any then. */
const safe = (value: bigint): number =>
  value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);

const padded = (bytes: number): number => Math.ceil(bytes / 4) * 4;

const hasEntry = (buffer: Buffer): boolean => {
  for (let at = 0; at + 12 <= buffer.length; ) {
    const name = buffer.readUInt32LE(at);
    const bytes = buffer.readUInt32LE(at + 4);
    if (buffer.readUInt32LE(at + 8) === entryNote && name === 4 && startsWith(buffer, at + 12, 'Xen\0')) return true;
    at += 12 + padded(name) + padded(bytes);
  }
  return false;
};

const cutOff = (): ImageRefused =>
  new ImageRefused('image_truncated', 'The kernel is cut off: its own table tells of more bytes. Send it anew.');
