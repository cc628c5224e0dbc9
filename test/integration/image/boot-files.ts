import { gzipSync } from 'node:zlib';

/** A bzImage as far as its header tells: `bytes` of it, set up as real ones are. */
export const bzImage = (bytes = 64 * 1024, change: (file: Buffer) => void = () => undefined): Buffer => {
  const file = Buffer.alloc(bytes, 0x90);
  file.write('MZ', 0);
  file.writeUInt8(27, 0x1f1);
  file.writeUInt32LE((bytes - 28 * 512) / 16, 0x1f4);
  file.writeUInt16LE(0xaa55, 0x1fe);
  file.write('HdrS', 0x202);
  file.writeUInt16LE(0x020f, 0x206);
  file.writeUInt8(1, 0x211);
  file.writeUInt16LE(0x7f, 0x236);
  change(file);
  return file;
};

/** An ELF kernel with one segment to load and a note, by default the one by which VMMs enter it. */
export const elfKernel = ({
  machine = 62,
  type = 2,
  note = 18,
  wide = 2,
  change = (_file: Buffer): void => undefined,
} = {}): Buffer => {
  const file = Buffer.alloc(8192, 0x90);
  file.fill(0, 0, 4096);
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, wide, 1, 1]).copy(file);
  file.writeUInt16LE(type, 16);
  file.writeUInt16LE(machine, 18);
  file.writeBigUInt64LE(64n, 32);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(2, 56);
  const segment = (index: number, kind: number, offset: number, bytes: number): void => {
    const at = 64 + index * 56;
    file.writeUInt32LE(kind, at);
    file.writeBigUInt64LE(BigInt(offset), at + 8);
    file.writeBigUInt64LE(BigInt(bytes), at + 32);
  };
  segment(0, 1, 4096, 4096);
  segment(1, 4, 512, 20);
  file.writeUInt32LE(4, 512);
  file.writeUInt32LE(4, 516);
  file.writeUInt32LE(note, 520);
  file.write('Xen\0', 524);
  change(file);
  return file;
};

/** An archive with nothing in it, as `cpio -H newc` writes one, packed. */
export const initramfs = (): Buffer =>
  gzipSync(Buffer.from(`070701${'0'.repeat(88)}0000000B${'0'.repeat(8)}TRAILER!!!\0`.padEnd(512, '\0')));
