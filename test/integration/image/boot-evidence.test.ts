import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { imageEntities } from '../../../src/modules/image/management/image.entities';
import { storageEntities } from '../../../src/modules/storage/management/storage.entities';
import { guestImage } from '../../support/cloud';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { ImageFixture } from './image-fixture';

jest.setTimeout(60_000);

const mebibyte = 2 ** 20;
/** A boot loader's own first sector: syslinux, in Debian's package. */
const bootCode = '/usr/lib/syslinux/mbr/gptmbr.bin';

describe('how an image boots, found at its import', () => {
  let db: TestDatabase;
  let f: ImageFixture;
  let work: string;
  let names = 0;

  beforeAll(async () => {
    work = mkdtempSync(join(tmpdir(), 'vc-boots-'));
    db = await startTestDatabase({ entities: [...imageEntities, ...storageEntities] });
    f = await ImageFixture.start(db.database, {});
  });
  afterAll(async () => {
    await f?.stop();
    await db?.close();
    rmSync(work, { recursive: true, force: true });
  });

  const firmwareOf = async (bytes: Buffer, firmware?: string): Promise<string> => {
    const { id } = await f.create({ name: `disk ${++names}`, ...(firmware !== undefined && { firmware }) });
    const { status, body } = await f.upload(id, bytes);
    expect({ status, detail: body.detail }).toEqual({ status: 200, detail: undefined });
    return (await f.image(id)).firmware;
  };
  const partitioned = (program: string, args: string[], input: string): Buffer => {
    const path = join(work, 'disk');
    writeFileSync(path, '');
    truncateSync(path, 16 * mebibyte);
    execFileSync(program, [...args, path], {
      input,
      stdio: ['pipe', 'ignore', 'inherit'],
      env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` },
    });
    return readFileSync(path);
  };
  /** As sfdisk makes it of this table. */
  const disk = (table: string, code = false): Buffer => {
    const bytes = partitioned('sfdisk', ['--quiet'], table);
    if (code) readFileSync(bootCode).copy(bytes, 0, 0, 440);
    return bytes;
  };
  /** A new GPT with one partition of type 1, which is an EFI system partition. */
  const largeSectors = (): Buffer => partitioned('fdisk', ['-b', '4096'], 'g\nn\n1\n\n+4M\nt\n1\nw\n');
  const esp = 'label: gpt\nsize=2MiB, type=linux\nsize=4MiB, type=uefi\nsize=4MiB, type=linux\n';
  const linux = 'label: gpt\nsize=4MiB, type=linux\n';
  const iso = (...options: string[]): Buffer => {
    const tree = join(work, 'tree');
    mkdirSync(tree, { recursive: true });
    writeFileSync(join(tree, 'boot.img'), Buffer.alloc(2048, 1));
    const path = join(work, 'disk.iso');
    execFileSync('genisoimage', ['-quiet', '-R', '-o', path, ...options, tree], { stdio: 'pipe' });
    return readFileSync(path);
  };
  const noEmulation = ['-no-emul-boot', '-boot-load-size', '4'];

  it.each<[string, string, () => Buffer]>([
    ['a GPT with an EFI system partition', 'uefi', () => disk(esp)],
    ['a GPT with one, for sectors of 4 KiB', 'uefi', largeSectors],
    ['a GPT with both', 'any', () => disk(esp, true)],
    ['a GPT with boot code alone', 'bios', () => disk(linux, true)],
    ['a GPT with neither', 'any', () => disk(linux)],
    ['an MBR with boot code', 'bios', () => disk('label: dos\nsize=4MiB, type=83, bootable\n', true)],
    ['an MBR with an EFI system partition', 'uefi', () => disk('label: dos\nsize=4MiB, type=ef\n')],
    ['an ISO with a boot record', 'bios', () => iso('-b', 'boot.img', ...noEmulation)],
    ['an ISO with none', 'any', () => iso()],
    ['no partitions at all', 'any', () => Buffer.alloc(mebibyte)],
    ['a disk that boots by both, and for real', 'any', () => readFileSync(guestImage())],
  ])('says of %s: %s', async (_what, firmware, make) => {
    expect(await firmwareOf(make())).toBe(firmware);
  });

  it('is found in what a qcow2 unfolds to', async () => {
    writeFileSync(join(work, 'raw'), disk(esp));
    execFileSync('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', 'raw', 'qcow2'], { cwd: work });
    expect(await firmwareOf(readFileSync(join(work, 'qcow2')))).toBe('uefi');
  });

  it('is what the user says, where the user says it', async () => {
    expect(await firmwareOf(disk(esp), 'bios')).toBe('bios');
    expect(await firmwareOf(disk(linux, true), 'uefi')).toBe('uefi');
  });

  it.each<[string, (header: Buffer) => void]>([
    ['lies far behind the disk', (header) => header.writeBigUInt64LE(2n ** 63n, 72)],
    ['has four billion entries', (header) => header.writeUInt32LE(0xffffffff, 80)],
    ['has entries of no size', (header) => header.writeUInt32LE(0, 84)],
    ['has entries of four gigabytes', (header) => header.writeUInt32LE(0xffffffff, 84)],
  ])('is read from no table that %s', async (_what, spoil) => {
    const bytes = disk(linux, true);
    spoil(bytes.subarray(512, 1024));
    expect(await firmwareOf(bytes)).toBe('bios');
  });
});
