import { ImageRefused } from '../import/image-refused';
import type { ImageReader } from './image-reader';

/** Limits of QEMU's own driver (block/qcow2.h); what is beyond is no image, or one made to hurt. */
const limits = {
  minClusterBits: 9,
  maxClusterBits: 21,
  maxRefcountOrder: 6,
  l1Bytes: 32 * 1024 ** 2,
  refcountTableBytes: 8 * 1024 ** 2,
  snapshots: 65_536,
};

/** Bits of the incompatible features (docs/interop/qcow2.txt). */
const feature = { corrupt: 1n << 1n, externalData: 1n << 2n, extendedL2: 1n << 4n };
const knownFeatures = 0b11111n;

const offsetMask = 0x00ff_ffff_ffff_fe00n;
const compressedFlag = 1n << 62n;
/** Of an entry of 8 bytes; those of 16 say it for each part of a cluster. */
const readsAsZeros = 1n;
/** Tables are read in pieces of this size. */
const pieceBytes = 64 * 1024;

interface Header {
  clusterBits: number;
  virtualBytes: number;
  l1Offset: number;
  l1Entries: number;
  /** Bytes of one L2 entry. */
  entryBytes: number;
}

const invalid = (what: string): ImageRefused =>
  new ImageRefused('invalid_header', `The qcow2 header is not valid: ${what}.`);
const truncated = (what: string): ImageRefused =>
  new ImageRefused('image_truncated', `The image is cut off: ${what} lies beyond the end of the file.`);

/**
 * The size of the disk, and how much of it has data at most, in bytes. Refuses everything that refers to other files,
 * that we do not know, or that is not all there.
 */
export const inspectQcow2 = async (
  reader: ImageReader,
  maxVirtualBytes: number,
): Promise<{ virtualBytes: number; dataBytes: number }> => {
  const header = parseHeader(await reader.read(0, 112), reader.bytes, maxVirtualBytes);
  const { virtualBytes, clusterBits } = header;
  return { virtualBytes, dataBytes: Math.min(virtualBytes, (await checkClusters(reader, header)) * 2 ** clusterBits) };
};

const parseHeader = (raw: Buffer, fileBytes: number, maxVirtualBytes: number): Header => {
  if (raw.length < 72) throw truncated('the header');
  const version = raw.readUInt32BE(4);
  if (version === 1)
    throw new ImageRefused(
      'unsupported_format',
      'The image is qcow (version 1). Convert it with qemu-img convert -O qcow2.',
    );
  if (version !== 2 && version !== 3) throw invalid(`version ${version}`);
  if (version === 3 && raw.length < 104) throw truncated('the header');
  const clusterBits = raw.readUInt32BE(20);
  if (clusterBits < limits.minClusterBits || clusterBits > limits.maxClusterBits)
    throw invalid(`cluster_bits ${clusterBits}`);
  const clusterBytes = 2 ** clusterBits;
  const features = version === 3 ? raw.readBigUInt64BE(72) : 0n;
  checkReferences(raw, features);
  if (version === 3) {
    const order = raw.readUInt32BE(96);
    if (order > limits.maxRefcountOrder) throw invalid(`refcount_order ${order}`);
    const headerBytes = raw.readUInt32BE(100);
    if (headerBytes < 104 || headerBytes > clusterBytes) throw invalid(`header_length ${headerBytes}`);
  }
  if (raw.readUInt32BE(56) * clusterBytes > limits.refcountTableBytes) throw invalid('the refcount table is too large');
  if (raw.readUInt32BE(60) > limits.snapshots) throw invalid('too many snapshots');
  const size = raw.readBigUInt64BE(24);
  if (size === 0n) throw new ImageRefused('image_empty', 'The disk in the image has no bytes.');
  if (size > BigInt(maxVirtualBytes))
    throw new ImageRefused(
      'image_too_large',
      `The disk has ${size} bytes, and at most ${maxVirtualBytes} are allowed.`,
    );
  const virtualBytes = Number(size);
  const entryBytes = (features & feature.extendedL2) === 0n ? 8 : 16;
  const l1Entries = raw.readUInt32BE(36);
  if (l1Entries * 8 > limits.l1Bytes) throw invalid(`an L1 table of ${l1Entries} entries`);
  const needed = Math.ceil(virtualBytes / (clusterBytes * (clusterBytes / entryBytes)));
  if (l1Entries < needed) throw invalid(`an L1 table of ${l1Entries} entries, where the disk needs ${needed}`);
  const l1Offset = offsetWithin(raw.readBigUInt64BE(40), clusterBytes, 'the L1 table');
  if (l1Offset + needed * 8 > fileBytes) throw truncated('the L1 table');
  return { clusterBits, virtualBytes, l1Offset, l1Entries: needed, entryBytes };
};

const checkReferences = (raw: Buffer, features: bigint): void => {
  if (raw.readBigUInt64BE(8) !== 0n || raw.readUInt32BE(16) !== 0) {
    throw new ImageRefused(
      'backing_file',
      'The image has a backing file and is not whole without it. Flatten it with qemu-img convert -O qcow2.',
    );
  }
  if (raw.readUInt32BE(32) !== 0) throw new ImageRefused('image_encrypted', 'The image is encrypted.');
  if ((features & feature.externalData) !== 0n)
    throw new ImageRefused(
      'external_data_file',
      'The image keeps its data in another file and is not whole without it. Flatten it with qemu-img convert -O qcow2.',
    );
  if ((features & ~knownFeatures) !== 0n)
    throw new ImageRefused(
      'unknown_features',
      `The image needs features that are not known here (incompatible bits 0x${features.toString(16)}).`,
    );
  if ((features & feature.corrupt) !== 0n)
    throw new ImageRefused('image_corrupt', 'The image is marked as corrupt. Repair it with qemu-img check -r all.');
};

const offsetWithin = (offset: bigint, alignment: number, what: string): number => {
  if (offset % BigInt(alignment) !== 0n) throw invalid(`${what} is not aligned`);
  if (offset > BigInt(Number.MAX_SAFE_INTEGER) / 2n) throw truncated(what);
  return Number(offset);
};

/**
 * Every table and cluster that the disk refers to must be in the file: QEMU reads zeros where a cut-off file has none.
 * Each L2 table is read once, so the work is bounded by the file's own size. Returns the clusters that are not zeros by
 * their entry: several may stand for the same bytes of the file, which unfold once for each.
 */
const checkClusters = async (reader: ImageReader, header: Header): Promise<number> => {
  let clusters = 0;
  const clusterBytes = 2 ** header.clusterBits;
  const seen = new Set<number>();
  for await (const buffer of pieces(reader, header.l1Offset, header.l1Entries * 8, 'the L1 table')) {
    for (let at = 0; at + 8 <= buffer.length; at += 8) {
      if (buffer.readUInt32BE(at) === 0 && buffer.readUInt32BE(at + 4) === 0) continue;
      const table = offsetWithin(buffer.readBigUInt64BE(at) & offsetMask, clusterBytes, 'an L2 table');
      if (table === 0) continue;
      if (table + clusterBytes > reader.bytes) throw truncated('an L2 table');
      if (seen.has(table)) throw new ImageRefused('image_corrupt', 'Two parts of the disk share one L2 table.');
      seen.add(table);
      clusters += await checkTable(reader, table, header);
    }
  }
  return clusters;
};

const checkTable = async (reader: ImageReader, table: number, { clusterBits, entryBytes }: Header): Promise<number> => {
  let clusters = 0;
  for await (const buffer of pieces(reader, table, 2 ** clusterBits, 'an L2 table')) {
    for (let at = 0; at + entryBytes <= buffer.length; at += entryBytes) {
      if (buffer.readUInt32BE(at) === 0 && buffer.readUInt32BE(at + 4) === 0) continue;
      const entry = buffer.readBigUInt64BE(at);
      const compressed = (entry & compressedFlag) !== 0n;
      const offset = compressed ? entry & ((1n << BigInt(62 - (clusterBits - 8))) - 1n) : entry & offsetMask;
      if (offset >= BigInt(reader.bytes)) throw truncated('a cluster');
      if (compressed || (offset !== 0n && (entryBytes === 16 || (entry & readsAsZeros) === 0n))) clusters += 1;
    }
  }
  return clusters;
};

async function* pieces(reader: ImageReader, offset: number, length: number, what: string): AsyncGenerator<Buffer> {
  for (let at = 0; at < length; at += pieceBytes) {
    const wanted = Math.min(pieceBytes, length - at);
    const buffer = await reader.read(offset + at, wanted);
    if (buffer.length < wanted) throw truncated(what);
    yield buffer;
  }
}
