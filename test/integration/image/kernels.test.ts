import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { Images } from '../../../src/modules/image/contract/image.ports';
import { ImageSweeper } from '../../../src/modules/image/management/images/image-sweeper.service';
import { type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';
import { bzImage, elfKernel, initramfs } from './boot-files';
import type { Answer, ImageFixture } from './image-fixture';
import { imageSuite } from './image-suite';

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const disk = Buffer.alloc(8192, 7);
const mib = 1024 ** 2;
jest.setTimeout(30_000);
const suite = imageSuite({ maxKernelBytes: 2 * mib, maxInitramfsBytes: mib });
const { name } = suite;
let db: TestDatabase;
let f: ImageFixture;
beforeAll(() => {
  ({ db, f } = suite.started());
});

const make = (commandLine = 'console=ttyS0 root=/dev/vda1') => f.create({ name: name(), kernel: { commandLine } });
const send = (id: string, part: 'kernel' | 'initramfs', bytes: Buffer | Readable, headers = {}): Promise<Answer> =>
  f.upload(id, bytes, headers, 'alice', part);
const stored = (digest: string): boolean => f.files().includes(`${digest}.raw`);

it('keeps kernel, initramfs and command line beside the disk, for those who place its instances', async () => {
  const made = await make();
  expect(made.kernel).toEqual({ commandLine: 'console=ttyS0 root=/dev/vda1', kernel: null, initramfs: null });
  const kernel = bzImage();
  const packed = initramfs();
  const first = await send(made.id, 'kernel', kernel);
  expect(first).toMatchObject({ status: 200, body: { state: 'queued', message: '' } });
  expect(first.body.kernel).toMatchObject({
    kernel: { sha256: sha256(kernel), bytes: kernel.length },
    initramfs: null,
  });
  expect(await send(made.id, 'initramfs', packed)).toMatchObject({ status: 200, body: { state: 'queued' } });
  const { body } = await f.upload(made.id, disk);
  expect(body).toMatchObject({ state: 'ready', sha256: sha256(disk) });
  expect(readFileSync(f.stored(sha256(kernel))).equals(kernel)).toBe(true);
  expect(statSync(f.stored(sha256(packed))).mode & 0o777).toBe(0o444);
  const ready = await db.database.tx((op) => f.container.get(Images).requireReady(op, made.projectId, made.id));
  expect(ready.kernel).toEqual({
    sha256: sha256(kernel),
    bytes: kernel.length,
    initramfs: { sha256: sha256(packed), bytes: packed.length },
    commandLine: 'console=ttyS0 root=/dev/vda1',
  });
  await f.container.get(ImageSweeper).sweep();
  expect([sha256(disk), sha256(kernel), sha256(packed)].every(stored)).toBe(true);
  for (const part of ['kernel', 'initramfs'] as const)
    expect(await send(made.id, part, kernel)).toMatchObject({ status: 409, body: { code: 'image_not_queued' } });
  const edited = await f.api('PATCH', `/images/${made.id}`, { kernel: { commandLine: 'quiet' } });
  expect(edited.body.kernel).toMatchObject({ commandLine: 'quiet' });
  expect(await f.api('DELETE', `/images/${made.id}`)).toMatchObject({ status: 204 });
  await waitFor('the files gone', () => ![kernel, packed, disk].some((bytes) => stored(sha256(bytes))));
});

it('takes the disk last, and only where a kernel is told of', async () => {
  const made = await make();
  expect(await f.upload(made.id, disk)).toMatchObject({ status: 409, body: { code: 'kernel_missing' } });
  expect(await f.image(made.id)).toMatchObject({ state: 'queued' });
  const plain = await f.create({ name: name() });
  for (const part of ['kernel', 'initramfs'] as const)
    expect(await send(plain.id, part, bzImage())).toMatchObject({
      status: 409,
      body: { code: 'image_without_kernel' },
    });
  expect(await f.api('PATCH', `/images/${plain.id}`, { kernel: { commandLine: 'quiet' } })).toMatchObject({
    status: 422,
    body: { code: 'image_without_kernel' },
  });
  expect(await f.upload(plain.id, disk)).toMatchObject({ status: 200, body: { state: 'ready', kernel: null } });
});

it('takes another kernel for the one before, whose file goes', async () => {
  const made = await make('');
  const [old, other] = [bzImage(40 * 1024), elfKernel()];
  await send(made.id, 'kernel', old);
  const { body } = await send(made.id, 'kernel', other);
  expect(body.kernel?.kernel?.sha256).toBe(sha256(other));
  await waitFor('the first kernel gone', () => !stored(sha256(old)));
  expect(stored(sha256(other))).toBe(true);
  await f.api('DELETE', `/images/${made.id}`);
});

it.each<[string, object, string, string]>([
  ['a line break', { kernel: { commandLine: 'quiet\nroot=/dev/vdb' } }, 'body.kernel.commandLine', 'not_printable'],
  ['a letter beyond ASCII', { kernel: { commandLine: 'ä' } }, 'body.kernel.commandLine', 'not_printable'],
  ['2048 characters', { kernel: { commandLine: 'x'.repeat(2048) } }, 'body.kernel.commandLine', 'too_long'],
  ['a URL', { kernel: {}, url: 'https://images.example.org/d.raw' }, 'body.url', 'kernel_by_upload'],
  ['a firmware', { kernel: {}, firmware: 'bios' }, 'body.firmware', 'kernel_or_firmware'],
])('refuses a kernel with %s', async (_what, input, path, code) => {
  const answer = await f.api<{ errors: { path: string; code: string }[] }>('POST', '/images?project=alpha', {
    name: name(),
    ...input,
  });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  expect(answer.body.errors).toEqual([expect.objectContaining({ path, code })]);
});

const bomb = gzipSync(Buffer.alloc(64 * mib));

it.each<[string, Buffer, string, RegExp]>([
  ['an empty one', Buffer.alloc(0), 'image_empty', /no bytes/],
  ['a bzImage that is cut off', bzImage().subarray(0, 40_000), 'image_truncated', /65536 bytes, and it has 40000/],
  ['a bzImage of its first sector', bzImage().subarray(0, 600), 'image_truncated', /cut off/],
  ['a bzImage of 32 bits', bzImage(65_536, (b) => b.writeUInt16LE(0, 0x236)), 'kernel_architecture', /32 bits/],
  ['a bzImage of Linux 2.6', bzImage(65_536, (b) => b.writeUInt16LE(0x0209, 0x206)), 'not_a_kernel', /too old/],
  ['an ELF file of ARM', elfKernel({ machine: 183 }), 'kernel_architecture', /x86-64/],
  ['an ELF file of 32 bits', elfKernel({ wide: 1 }), 'kernel_architecture', /x86-64/],
  ['an object file', elfKernel({ type: 1 }), 'not_a_kernel', /cannot be started/],
  ['an ELF file without an entry for VMMs', elfKernel({ note: 17 }), 'not_a_kernel', /PVH/],
  ['an ELF file that is cut off', elfKernel().subarray(0, 5000), 'image_truncated', /cut off/],
  ['an ELF header alone', elfKernel().subarray(0, 40), 'image_truncated', /cut off/],
  [
    'an ELF file with a segment beyond all numbers',
    elfKernel({ change: (b) => b.writeBigUInt64LE(2n ** 64n - 1n, 64 + 8) }),
    'image_truncated',
    /cut off/,
  ],
  [
    'an ELF file whose table lies beyond it',
    elfKernel({ change: (b) => b.writeBigUInt64LE(2n ** 63n, 32) }),
    'image_truncated',
    /cut off/,
  ],
  [
    'an ELF file with 65535 segments',
    elfKernel({ change: (b) => b.writeUInt16LE(65_535, 56) }),
    'not_a_kernel',
    /table/,
  ],
  ['a kernel of ARM', Buffer.alloc(4096).fill('ARM\x64', 0x38, 0x3c, 'latin1'), 'kernel_architecture', /x86-64/],
  ['an EFI program', Buffer.alloc(4096).fill('MZ', 0, 2), 'not_a_kernel', /unified kernel image/],
  ['a gzip bomb', bomb, 'not_a_kernel', /It is gzip/],
  ['a text', Buffer.from('hello'), 'not_a_kernel', /send a bzImage/],
])('refuses as a kernel %s, and takes a better one then', async (_what, bytes, code, message) => {
  const made = await make();
  const answer = await send(made.id, 'kernel', bytes);
  expect(answer).toMatchObject({ status: 422, body: { code } });
  expect(answer.body.detail).toMatch(message);
  expect(await f.image(made.id)).toMatchObject({
    state: 'queued',
    message: answer.body.detail,
    kernel: { kernel: null },
  });
  expect(f.files().filter((file) => file.startsWith(made.id))).toEqual([]);
  expect(await send(made.id, 'kernel', elfKernel())).toMatchObject({ status: 200 });
});

it('takes an initramfs by its beginning and unpacks nothing of it', async () => {
  const made = await make();
  // Sixty-four mebibytes, which are the guest's to unpack.
  expect(await send(made.id, 'initramfs', bomb)).toMatchObject({
    status: 200,
    body: { kernel: { initramfs: { bytes: bomb.length } } },
  });
  const answer = await send(made.id, 'initramfs', Buffer.alloc(4096, 1));
  expect(answer).toMatchObject({ status: 422, body: { code: 'not_an_initramfs' } });
  expect(await f.image(made.id)).toMatchObject({ kernel: { initramfs: { bytes: bomb.length } } });
});

it('takes no more of a kernel or an initramfs than is allowed, told of or not', async () => {
  const made = await make();
  const endless = (): Readable =>
    Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(256 * 1024, 1);
      })(),
    );
  const tenGibibytes = { 'content-length': String(10 * 1024 ** 3) };
  for (const [part, headers] of [
    ['kernel', {}],
    ['initramfs', tenGibibytes],
  ] as const) {
    const answer = await send(made.id, part, endless(), headers).catch((error: Error) => error);
    if (!(answer instanceof Error)) expect(answer).toMatchObject({ status: 413, body: { code: 'image_too_large' } });
    await waitFor(`${part} refused`, async () => (await f.image(made.id)).message.includes(`The ${part} is larger`));
    expect((await f.image(made.id)).state).toBe('queued');
  }
  expect(f.files().filter((file) => file.startsWith(made.id))).toEqual([]);
});
