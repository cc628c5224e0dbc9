import fc from 'fast-check';
import { inspectImage, type ImageFacts } from './image-header';
import { ImageRefused } from '../import/image-refused';

const tib = 1024 ** 4;
/** No piece that is asked for may be larger: sizes claimed by a file are never allocated. */
const largestRead = 64 * 1024;

const inspect = (file: Buffer, claimed: 'raw' | 'qcow2' | null = null, max = tib): Promise<ImageFacts> =>
  inspectImage(
    {
      bytes: file.length,
      read: async (offset, length) => {
        if (length > largestRead || length < 0 || offset < 0) throw new Error(`a read of ${length} bytes at ${offset}`);
        return file.subarray(offset, offset + length);
      },
    },
    claimed,
    max,
  );

const codeOf = (file: Buffer, claimed: 'raw' | 'qcow2' | null = null, max?: number): Promise<string> =>
  inspect(file, claimed, max).then(
    () => 'accepted',
    (error: unknown) => (error instanceof ImageRefused ? error.code : Promise.reject(error)),
  );

/**
 * A version 3 image of 1 MiB in clusters of 64 KiB: header, L1 at cluster 1, L2 at cluster 2, one data cluster at 3.
 */
const qcow2 = (change: (b: Buffer) => void = () => undefined): Buffer => {
  const b = Buffer.alloc(4 * 65_536);
  b.write('QFI\xfb', 0, 'latin1');
  b.writeUInt32BE(3, 4);
  b.writeUInt32BE(16, 20);
  b.writeBigUInt64BE(1_048_576n, 24);
  b.writeUInt32BE(1, 36);
  b.writeBigUInt64BE(65_536n, 40);
  b.writeUInt32BE(1, 56);
  b.writeUInt32BE(4, 96);
  b.writeUInt32BE(104, 100);
  b.writeBigUInt64BE(0x8000_0000_0000_0000n | 131_072n, 65_536);
  b.writeBigUInt64BE(0x8000_0000_0000_0000n | 196_608n, 131_072);
  change(b);
  return b;
};

it('takes qcow2 and raw', async () => {
  expect(await inspect(qcow2())).toEqual({ format: 'qcow2', virtualBytes: 1_048_576, dataBytes: 65_536 });
  expect(await inspect(qcow2(), 'qcow2')).toEqual({ format: 'qcow2', virtualBytes: 1_048_576, dataBytes: 65_536 });
  expect(await inspect(Buffer.alloc(1_000_448, 1))).toEqual({
    format: 'raw',
    virtualBytes: 1_000_448,
    dataBytes: 1_000_448,
  });
  expect(await inspect(Buffer.alloc(512, 0))).toEqual({ format: 'raw', virtualBytes: 512, dataBytes: 512 });
});

it('counts what an image unfolds to: one place of the file as often as the disk names it, and zeros not at all', async () => {
  const many = qcow2((b) => {
    for (let i = 0; i < 10; i++) b.writeBigUInt64BE((1n << 62n) | 196_608n, 131_072 + 8 * i);
    b.writeBigUInt64BE(0x8000_0000_0000_0000n | 196_608n | 1n, 131_072 + 80);
  });
  expect(await inspect(many)).toMatchObject({ dataBytes: 10 * 65_536 });
  expect(await inspect(qcow2((b) => b.writeBigUInt64BE(0n, 65_536)))).toMatchObject({ dataBytes: 0 });
});

const said = (file: Buffer): Promise<string> =>
  inspect(file).then(
    () => 'accepted',
    (error: Error) => error.message,
  );

it.each<[string, RegExp, Buffer]>([
  ['a web page', /no disk.*web page/, Buffer.from('\n<!DOCTYPE html>\n<html><body>404 – not here</body></html>')],
  ['a web page of whole sectors', /web page/, Buffer.from('<html>'.padEnd(1024, ' .'))],
  ['an XML answer', /web page/, Buffer.from('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>')],
  ['a JSON answer', /like a text/, Buffer.from('{"message": "Not Found"}')],
  [
    'a text of whole sectors with a character cut in two',
    /like a text/,
    Buffer.from(`${'a'.repeat(511)}é${'a'.repeat(1024)}`.padEnd(2048, 'b').slice(0, 2047)),
  ],
  ['one byte', /like a text/, Buffer.from('x')],
  ['bytes of no whole sectors', /are 1000001, which is no whole number of sectors/, Buffer.alloc(1_000_001, 1)],
])('refuses %s as no disk, and says why', async (_what, words, file) => {
  expect(await codeOf(file)).toBe('not_a_disk');
  expect(await codeOf(file, 'raw')).toBe('not_a_disk');
  expect(await said(file)).toMatch(words);
});

it('takes what a firmware could boot, whatever its size', async () => {
  const odd = (write: (b: Buffer) => void): Buffer => {
    const b = Buffer.alloc(40_001);
    write(b);
    return b;
  };
  expect(await codeOf(odd((b) => b.writeUInt16LE(0xaa55, 510)))).toBe('accepted');
  expect(await codeOf(odd((b) => b.write('EFI PART', 512)))).toBe('accepted');
  expect(await codeOf(odd((b) => b.write('EFI PART', 4096)))).toBe('accepted');
  expect(await codeOf(odd((b) => b.write('CD001', 32_769)))).toBe('accepted');
});

it.each<[string, string, RegExp]>([
  ['gzip', '\x1f\x8b\x08', /is gzip\. .*unpack it first \(gunzip\)/],
  ['xz', '\xfd7zXZ\0', /is xz\. .*\(unxz\)/],
  ['zstd', '\x28\xb5\x2f\xfd', /is Zstandard\. .*\(unzstd\)/],
  ['bzip2', 'BZh91AY', /is bzip2\. .*\(bunzip2\)/],
  ['LZ4', '\x04\x22\x4d\x18', /is LZ4\. .*\(unlz4\)/],
  ['zip', 'PK\x03\x04', /is zip\. It is an archive.*\(unzip\).*the disk image in it/],
  ['7z', '7z\xbc\xaf\x27\x1c', /is 7z\. .*7z x/],
])('refuses %s with the advice that fits, and no other', async (_what, magic, words) => {
  const message = await said(Buffer.concat([Buffer.from(magic, 'latin1'), Buffer.alloc(5000, 3)]));
  expect(message).toMatch(words);
  expect(message).not.toContain('qemu-img');
});

it('tells an OVA from other archives, and says to unpack it and then to convert', async () => {
  const tar = (name: string): Buffer => {
    const b = Buffer.alloc(2048);
    b.write(name);
    b.write('ustar', 257);
    return b;
  };
  expect(await said(tar('machine.ovf'))).toMatch(/an OVA\. .*tar -xf.*then|an OVA\. .*tar -xf.*convert the disk in it/);
  expect(await said(tar('disk.img'))).toMatch(/a tar archive\. .*tar -xf/);
});

it.each<[string, string, (b: Buffer) => void]>([
  ['a backing file', 'backing_file', (b) => b.writeBigUInt64BE(112n, 8)],
  ['a backing file name without offset', 'backing_file', (b) => b.writeUInt32BE(11, 16)],
  ['an external data file', 'external_data_file', (b) => b.writeBigUInt64BE(4n, 72)],
  ['an unknown incompatible feature', 'unknown_features', (b) => b.writeBigUInt64BE(1n << 5n, 72)],
  ['the highest incompatible feature', 'unknown_features', (b) => b.writeBigUInt64BE(1n << 63n, 72)],
  ['the mark of corruption', 'image_corrupt', (b) => b.writeBigUInt64BE(2n, 72)],
  ['encryption', 'image_encrypted', (b) => b.writeUInt32BE(2, 32)],
  ['version 1', 'unsupported_format', (b) => b.writeUInt32BE(1, 4)],
  ['version 4', 'invalid_header', (b) => b.writeUInt32BE(4, 4)],
  ['an L1 table of 2^31 entries', 'invalid_header', (b) => b.writeUInt32BE(2 ** 31, 36)],
  ['an L1 table that is too small', 'invalid_header', (b) => b.writeUInt32BE(0, 36)],
  ['refcount_order 63', 'invalid_header', (b) => b.writeUInt32BE(63, 96)],
  ['cluster_bits 63', 'invalid_header', (b) => b.writeUInt32BE(63, 20)],
  ['cluster_bits 0', 'invalid_header', (b) => b.writeUInt32BE(0, 20)],
  ['a header length of 4 GiB', 'invalid_header', (b) => b.writeUInt32BE(2 ** 32 - 1, 100)],
  ['a refcount table of terabytes', 'invalid_header', (b) => b.writeUInt32BE(2 ** 32 - 1, 56)],
  ['too many snapshots', 'invalid_header', (b) => b.writeUInt32BE(2 ** 31, 60)],
  ['a disk of 2^64 - 1 bytes', 'image_too_large', (b) => b.writeBigUInt64BE(2n ** 64n - 1n, 24)],
  ['an empty disk', 'image_empty', (b) => b.writeBigUInt64BE(0n, 24)],
  ['an L1 table beyond the end', 'image_truncated', (b) => b.writeBigUInt64BE(1n << 40n, 40)],
  ['an L2 table beyond the end', 'image_truncated', (b) => b.writeBigUInt64BE(1n << 40n, 65_536)],
  ['a cluster beyond the end', 'image_truncated', (b) => b.writeBigUInt64BE(1n << 40n, 131_072)],
])('refuses %s', async (_what, code, change) => {
  expect(await codeOf(qcow2(change))).toBe(code);
});

it('refuses a file that was cut off anywhere', async () => {
  for (const length of [4, 71, 103, 65_536, 131_072, 196_607, 196_608])
    expect(await codeOf(qcow2().subarray(0, length))).toBe('image_truncated');
  expect(await codeOf(Buffer.alloc(0))).toBe('image_empty');
});

it('believes the header and not the user, and says so', async () => {
  expect(await codeOf(qcow2(), 'raw')).toBe('format_mismatch');
  expect(await codeOf(Buffer.alloc(4096), 'qcow2')).toBe('format_mismatch');
});

it('names formats that are not taken', async () => {
  const vhd = Buffer.alloc(2048);
  vhd.write('conectix', 1536);
  const tar = Buffer.alloc(1024);
  tar.write('ustar', 257);
  const files = [
    'KDMV',
    'COWD',
    '# Disk DescriptorFile',
    'vhdxfile',
    'conectix',
    'QED\0',
    '\x1f\x8b\x08',
    '\xfd7zXZ\0',
  ].map((s) => Buffer.concat([Buffer.from(s, 'latin1'), Buffer.alloc(2000)]));
  for (const file of [...files, vhd, tar]) {
    expect(await codeOf(file)).toBe('unsupported_format');
    expect(await codeOf(file, 'raw')).toBe('unsupported_format');
  }
});

it('holds raw images to the limit', async () => {
  expect(await codeOf(Buffer.alloc(8192, 1), null, 4096)).toBe('image_too_large');
});

it('refuses or accepts anything, and never fails otherwise or reads by claimed sizes', async () => {
  const edits = fc.array(
    fc.record({
      at: fc.oneof(fc.nat(112), fc.nat(4 * 65_536 - 1), fc.constantFrom(65_536, 131_072)),
      bytes: fc.uint8Array({ maxLength: 9 }),
    }),
    { maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(
      edits,
      fc.nat(4 * 65_536),
      fc.constantFrom('raw' as const, 'qcow2' as const, null),
      async (changes, length, claimed) => {
        const file = qcow2((b) => {
          for (const { at, bytes } of changes) b.set(bytes.subarray(0, b.length - at), at);
        }).subarray(0, length);
        await codeOf(file, claimed);
      },
    ),
    { numRuns: 1500 },
  );
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 600 }), async (bytes) => {
      await codeOf(Buffer.concat([Buffer.from('QFI\xfb\0\0\0\x03', 'latin1'), bytes]));
      await codeOf(Buffer.from(bytes));
    }),
  );
});
