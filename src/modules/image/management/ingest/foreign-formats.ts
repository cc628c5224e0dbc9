interface Foreign {
  at: number;
  bytes: string;
  name: string;
  /** What its owner should do; the other form of it when it is a disk that QEMU can convert. */
  advice: string;
}

const convert = 'Images must be raw or qcow2: convert it with qemu-img convert -O qcow2.';
const unpack = (command: string): string => `It is compressed: unpack it first (${command}), and send what comes out.`;
const archive = (command: string): string =>
  `It is an archive: unpack it first (${command}), and send the disk image in it.`;

/**
 * Formats that are known by their first bytes and not taken: converting them is the user's, for each has its own traps.
 */
const foreign: readonly Foreign[] = [
  { at: 0, bytes: 'KDMV', name: 'VMDK', advice: convert },
  { at: 0, bytes: 'COWD', name: 'VMDK', advice: convert },
  {
    at: 0,
    bytes: '# Disk DescriptorFile',
    name: 'the descriptor of a VMDK, without its data',
    advice: 'Convert it where its other files are: qemu-img convert -O qcow2.',
  },
  { at: 0, bytes: 'vhdxfile', name: 'VHDX', advice: convert },
  { at: 0, bytes: 'conectix', name: 'VHD', advice: convert },
  { at: 0x40, bytes: '\x7f\x10\xda\xbe', name: 'VDI', advice: convert },
  { at: 0, bytes: 'QED\0', name: 'QED', advice: convert },
  { at: 0, bytes: 'WithoutFreeSpace', name: 'a Parallels disk', advice: convert },
  { at: 0, bytes: 'WithouFreSpacExt', name: 'a Parallels disk', advice: convert },
  {
    at: 0,
    bytes: 'LUKS\xba\xbe',
    name: 'a LUKS volume',
    advice: 'It is encrypted, and no guest could boot it: send what is in it.',
  },
  { at: 0, bytes: '\x1f\x8b', name: 'gzip', advice: unpack('gunzip') },
  { at: 0, bytes: '\xfd7zXZ\0', name: 'xz', advice: unpack('unxz') },
  { at: 0, bytes: '\x28\xb5\x2f\xfd', name: 'Zstandard', advice: unpack('unzstd') },
  { at: 0, bytes: 'BZh', name: 'bzip2', advice: unpack('bunzip2') },
  { at: 0, bytes: '\x04\x22\x4d\x18', name: 'LZ4', advice: unpack('unlz4') },
  { at: 0, bytes: '\x5d\0\0', name: 'LZMA', advice: unpack('unlzma') },
  { at: 0, bytes: 'LZIP', name: 'lzip', advice: unpack('lzip -d') },
  { at: 0, bytes: '\x1f\x9d', name: 'compress', advice: unpack('uncompress') },
  { at: 0, bytes: 'PK\x03\x04', name: 'zip', advice: archive('unzip') },
  { at: 0, bytes: '7z\xbc\xaf\x27\x1c', name: '7z', advice: archive('7z x') },
  { at: 0, bytes: 'Rar!\x1a\x07', name: 'RAR', advice: archive('unrar x') },
];
const ovaAdvice =
  'It is an archive: unpack it first (tar -xf), and convert the disk in it with qemu-img convert -O qcow2.';
/** By the last 512 bytes. */
const footers = [
  { bytes: 'conectix', name: 'VHD' },
  { bytes: 'koly', name: 'an Apple disk image' },
];

export const startsWith = (buffer: Buffer, at: number, bytes: string): boolean =>
  buffer.subarray(at, at + bytes.length).equals(Buffer.from(bytes, 'latin1'));

/**
 * What a file is that is neither raw nor qcow2, in words and with advice; null when nothing is known against it.
 * @param head its first 512 bytes
 * @param tail its last 512 bytes
 */
export const foreignFormat = (head: Buffer, tail: Buffer): string | null => {
  if (startsWith(head, 257, 'ustar'))
    return `The image is ${/^[^\0]{1,99}\.ovf\0/.test(head.toString('latin1')) ? 'an OVA' : 'a tar archive'}. ${ovaAdvice}`;
  const known = foreign.find((f) => startsWith(head, f.at, f.bytes));
  if (known) return `The image is ${known.name}. ${known.advice}`;
  const footer = footers.find((f) => startsWith(tail, 0, f.bytes));
  return footer ? `The image is ${footer.name}. ${convert}` : null;
};
