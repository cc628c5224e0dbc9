import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Config } from '../../../src/core/config/config';
import { coreConfigSchema } from '../../../src/core/config/core-config';
import { StatePaths } from '../../../src/core/config/state-paths';
import { ManagementClient } from '../../../src/core/m2m/management/node-route';
import { imageConfigSchema } from '../../../src/modules/image/contract/image.config';
import type { WantedImage } from '../../../src/modules/image/node/cached-files';
import { ImageStore } from '../../../src/modules/image/node/image-store';
import { quietLogging } from '../../support/workflow-harness';

const mib = 1024 * 1024;

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Management with images in memory; `fault` may spoil an answer. */
class FakeManagement extends ManagementClient {
  readonly images = new Map<string, Buffer>();
  readonly asked: string[] = [];
  fault: ((chunks: Buffer, from: number) => Readable) | undefined;

  override async download(path: string): Promise<NodeJS.ReadableStream> {
    this.asked.push(path);
    const [, id = '', name = '', from = '0'] = /^\/images\/(.+)\/(.+)\?from=(\d+)$/.exec(path) ?? [];
    const bytes = this.images.get(name === 'content' ? id : `${id}/${name}`);
    if (!bytes) throw Object.assign(new Error('404'), { status: 404 });
    const rest = bytes.subarray(Number(from));
    return this.fault?.(rest, Number(from)) ?? Readable.from(pieces(rest));
  }

  override async post(): Promise<unknown> {
    return undefined;
  }

  add(bytes: Buffer): WantedImage {
    const imageId = crypto.randomUUID();
    this.images.set(imageId, bytes);
    return { imageId, sha256: digestOf(bytes), virtualBytes: bytes.length };
  }

  addKernel(wanted: WantedImage, kernel: Buffer, initramfs: Buffer | null): WantedImage {
    const part = (name: string, bytes: Buffer): { sha256: string; bytes: number } => {
      this.images.set(`${wanted.imageId}/${name}`, bytes);
      return { sha256: digestOf(bytes), bytes: bytes.length };
    };
    return {
      ...wanted,
      kernel: { ...part('kernel', kernel), initramfs: initramfs && part('initramfs', initramfs) },
    };
  }
}

function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 60_000) yield bytes.subarray(at, at + 60_000);
}

let dir: string;
let management: FakeManagement;
const context = { signal: new AbortController().signal, progress: (): void => undefined };

const newStore = async (cacheBytes = 1024 * mib, stateDir = dir): Promise<ImageStore> => {
  const config = new Config(coreConfigSchema.parse({}), { image: imageConfigSchema.parse({ cacheBytes }) });
  const store = new ImageStore(management, config, new StatePaths(stateDir, stateDir), quietLogging());
  await store.start();
  return store;
};
const files = (stateDir = dir): string[] => readdirSync(join(stateDir, 'images')).sort();
const data = (bytes: number, seed = 1): Buffer => Buffer.alloc(bytes, `seed ${seed}`);

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vc-image-store-'));
  management = new FakeManagement();
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it('fetches once for ten that ask at the same time', async () => {
  const store = await newStore();
  const bytes = data(mib);
  const wanted = management.add(bytes);
  const answers = await Promise.all(Array.from({ length: 10 }, () => store.ensure(wanted, context)));
  expect(answers).toHaveLength(10);
  expect(management.asked).toHaveLength(1);
  expect(readFileSync(await store.path(wanted.imageId)).equals(bytes)).toBe(true);
  expect(statSync(await store.path(wanted.imageId)).mode & 0o777).toBe(0o444);
  expect(await store.ensure(wanted, context)).toEqual({ cached: true });
  expect(files()).toEqual([`${wanted.imageId}.json`, `${wanted.imageId}.raw`]);
});

it('keeps the kernel that an image brings beside it, and fetches it anew when a part is not what it was', async () => {
  const store = await newStore();
  const [kernel, initramfs] = [data(200_000, 2), data(70_000, 3)];
  const wanted = management.addKernel(management.add(data(mib)), kernel, initramfs);
  expect(await store.ensure(wanted, context)).toEqual({ cached: false });
  expect(await store.ensure(wanted, context)).toEqual({ cached: true });
  const { imageId } = wanted;
  expect(files()).toEqual(['initramfs', 'json', 'kernel', 'raw'].map((ending) => `${imageId}.${ending}`));
  const seen = await store.use(imageId, async (_path, found) => found);
  expect(readFileSync(seen?.kernel ?? '').equals(kernel)).toBe(true);
  expect(readFileSync(seen?.initramfs ?? '').equals(initramfs)).toBe(true);
  expect(statSync(seen?.kernel ?? '').mode & 0o777).toBe(0o444);
  truncateSync(seen?.kernel ?? '', 10);
  const again = await newStore();
  expect(await again.ensure(wanted, context)).toEqual({ cached: false });
  await again.remove(imageId);
  expect(files()).toEqual([]);
});

it('keeps nothing of an image whose kernel is not what it should be', async () => {
  const store = await newStore();
  const wanted = management.addKernel(management.add(data(mib)), data(200_000, 2), null);
  management.images.set(`${wanted.imageId}/kernel`, data(200_000, 4));
  await expect(store.ensure(wanted, context)).rejects.toMatchObject({ code: 'checksum_mismatch' });
  expect(files()).toEqual([]);
  // What a crash left between the files of one image goes at the next start.
  writeFileSync(join(dir, 'images', `${wanted.imageId}.kernel`), 'half');
  await newStore();
  expect(files()).toEqual([]);
});

it('keeps holes, and trusts what it verified across a restart', async () => {
  const bytes = Buffer.concat([Buffer.alloc(16 * mib), data(4096), Buffer.alloc(16 * mib)]);
  const wanted = management.add(bytes);
  await (await newStore()).ensure(wanted, context);
  const again = await newStore();
  expect(await again.ensure(wanted, context)).toEqual({ cached: true });
  expect(management.asked).toHaveLength(1);
  const { size, blocks } = statSync(await again.path(wanted.imageId));
  expect(size).toBe(bytes.length);
  expect(blocks * 512).toBeLessThan(mib);
});

it('takes up a broken download where it broke', async () => {
  const store = await newStore();
  const bytes = data(500_000);
  const wanted = management.add(bytes);
  management.fault = (rest, from) =>
    Readable.from(
      (async function* () {
        yield rest.subarray(0, 150_000);
        if (from < 400_000) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
        yield rest.subarray(150_000);
      })(),
    );
  await store.ensure(wanted, context);
  expect(management.asked.map((p) => p.split('=')[1])).toEqual(['0', '150000', '300000', '450000']);
  expect(readFileSync(await store.path(wanted.imageId)).equals(bytes)).toBe(true);
});

it('keeps nothing of an image that is not what it should be, or is gone', async () => {
  const store = await newStore();
  const wanted = management.add(data(100_000));
  await expect(store.ensure({ ...wanted, sha256: 'a'.repeat(64) }, context)).rejects.toMatchObject({
    code: 'checksum_mismatch',
    permanent: true,
  });
  await expect(store.ensure({ ...wanted, virtualBytes: 50_000 }, context)).rejects.toMatchObject({
    code: 'size_mismatch',
    permanent: true,
  });
  await expect(store.ensure({ ...wanted, imageId: crypto.randomUUID() }, context)).rejects.toMatchObject({
    code: 'image_gone',
    permanent: true,
  });
  await expect(store.path(wanted.imageId)).rejects.toMatchObject({ code: 'image_not_cached' });
  expect(files()).toEqual([]);
  expect(await store.ensure(wanted, context)).toEqual({ cached: false });
});

it('fetches anew what is no longer as it was verified, and sweeps unfinished downloads', async () => {
  const wanted = management.add(data(100_000));
  const store = await newStore();
  await store.ensure(wanted, context);
  const path = await store.path(wanted.imageId);
  truncateSync(path, 10);
  writeFileSync(join(dir, 'images', `${crypto.randomUUID()}.raw.part`), 'x');
  writeFileSync(join(dir, 'images', `${crypto.randomUUID()}.json`), '{}');
  const next = await newStore();
  expect(files()).toEqual([`${wanted.imageId}.json`, `${wanted.imageId}.raw`]);
  await expect(next.path(wanted.imageId)).rejects.toMatchObject({ code: 'image_not_cached' });
  expect(await next.ensure(wanted, context)).toEqual({ cached: false });
});

it('evicts the one unused for longest, and none in use or just fetched', async () => {
  const store = await newStore(2.5 * mib);
  const [old, used, fresh, incoming] = [1, 2, 3, 4].map((seed) => management.add(data(mib, seed))) as [
    WantedImage,
    WantedImage,
    WantedImage,
    WantedImage,
  ];
  for (const image of [old, used, fresh]) await store.ensure(image, context);
  const longAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);
  utimesSync(join(dir, 'images', `${old.imageId}.json`), longAgo(2), longAgo(2));
  await store.use(used.imageId, async () => {
    utimesSync(join(dir, 'images', `${used.imageId}.json`), longAgo(3), longAgo(3));
    await store.ensure(incoming, context);
  });
  expect(files().filter((f) => f.endsWith('.raw'))).toEqual(
    [used, fresh, incoming].map((i) => `${i.imageId}.raw`).sort(),
  );
  await store.remove(fresh.imageId);
  expect(files()).not.toContain(`${fresh.imageId}.raw`);
});

it('says that the disk is full and keeps nothing', async () => {
  const full = join(dir, 'full');
  mkdirSync(full);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'vc-image-store-test', full]);
  try {
    const store = await newStore(undefined, full);
    await expect(store.ensure(management.add(data(3 * mib)), context)).rejects.toMatchObject({
      code: 'no_space',
      permanent: true,
    });
    expect(files(full)).toEqual([]);
    expect(await store.ensure(management.add(data(100_000)), context)).toEqual({ cached: false });
  } finally {
    execFileSync('umount', [full]);
  }
});
