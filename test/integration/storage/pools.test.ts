import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { Config } from '../../../src/core/config/config';
import { coreConfigSchema } from '../../../src/core/config/core-config';
import { StatePaths } from '../../../src/core/config/state-paths';
import type { VerbContext, VerbHandler } from '../../../src/core/m2m/verbs/verb-handler';
import { type CachedKernel, ImageCache } from '../../../src/modules/image/contract/image.ports';
import { storageConfigSchema } from '../../../src/modules/storage/contract/storage.config';
import { LocalPoolDriver } from '../../../src/modules/storage/node/drivers/local-pool.driver';
import type { PoolDriver } from '../../../src/modules/storage/node/drivers/pool.driver';
import { SimulatedPoolDriver } from '../../../src/modules/storage/node/drivers/simulated-pool.driver';
import { PoolInventorySource } from '../../../src/modules/storage/node/pool-inventory.source';
import { PoolVolumePaths } from '../../../src/modules/storage/node/pool-volume-paths';
import { Pools } from '../../../src/modules/storage/node/pools';
import { VolumeHandlers } from '../../../src/modules/storage/node/volume.handlers';
import { poolContract } from './pool.contract.suite';

const mib = 1024 * 1024;
let work: string;
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'vc-pools-'));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));
const signal = new AbortController().signal;

const sourceFile = async (bytes: number): Promise<string> => {
  const path = join(work, `source-${randomUUID()}`);
  writeFileSync(path, Buffer.alloc(bytes, 'source'));
  return path;
};

poolContract('local', async () => {
  const dir = join(work, randomUUID());
  const open = async (): Promise<PoolDriver> => {
    const driver = new LocalPoolDriver('default', dir);
    await driver.open();
    return driver;
  };
  return {
    driver: await open(),
    source: sourceFile,
    reopen: open,
    files: () => readdirSync(join(dir, 'volumes')),
    close: async () => rmSync(dir, { recursive: true }),
  };
});

poolContract('simulated', async () => {
  const dir = join(work, randomUUID());
  const open = async (): Promise<PoolDriver> => {
    const driver = new SimulatedPoolDriver('default', dir, 1024 ** 4);
    await driver.open();
    return driver;
  };
  return {
    driver: await open(),
    source: sourceFile,
    reopen: open,
    files: () => readdirSync(dir),
    close: async () => rmSync(dir, { recursive: true }),
  };
});

describe('local volumes', () => {
  let dir: string;
  let driver: LocalPoolDriver;
  beforeEach(async () => {
    dir = join(work, randomUUID());
    driver = new LocalPoolDriver('default', dir);
    await driver.open();
  });

  it('copies its source, grows the copy to whole blocks, and the last sector is readable', async () => {
    const source = await sourceFile(1_003_520);
    const { path, bytes } = await driver.ensure({ volumeId: randomUUID(), bytes: 1_007_616, source, signal });
    const content = readFileSync(path);
    expect(content.length).toBe(bytes);
    expect(content.subarray(0, 1_003_520).equals(readFileSync(source))).toBe(true);
    expect(content.subarray(1_003_520).equals(Buffer.alloc(4096))).toBe(true);
    const file = await open(path, 'r');
    expect((await file.read(Buffer.alloc(512), 0, 512, bytes - 512)).bytesRead).toBe(512);
    await file.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('keeps a sparse gigabyte sparse', async () => {
    const source = join(work, 'sparse');
    writeFileSync(source, 'x');
    truncateSync(source, 1024 * mib);
    const { path } = await driver.ensure({ volumeId: randomUUID(), bytes: 2048 * mib, source, signal });
    expect(statSync(path).size).toBe(2048 * mib);
    expect(statSync(path).blocks * 512).toBeLessThan(mib);
  });

  it('leaves alone what a guest wrote, also when it looks like another format', async () => {
    const volumeId = randomUUID();
    const { path } = await driver.ensure({ volumeId, bytes: 4 * mib, source: await sourceFile(mib), signal });
    const trap = join(work, 'trap.qcow2');
    execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', '-b', '/etc/shadow', '-F', 'raw', trap, '1M']);
    const file = await open(path, 'r+');
    await file.write(readFileSync(trap).subarray(0, 4096), 0, 4096, 0);
    await file.close();
    const before = readFileSync(path);
    expect(await driver.ensure({ volumeId, bytes: 4 * mib, source: await sourceFile(mib), signal })).toEqual({
      path,
      format: 'raw',
      bytes: 4 * mib,
    });
    expect(await driver.find(volumeId)).toEqual({ path, format: 'raw', bytes: 4 * mib });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('refuses a volume that is smaller than its image', async () => {
    await expect(
      driver.ensure({ volumeId: randomUUID(), bytes: 4096, source: await sourceFile(8192), signal }),
    ).rejects.toMatchObject({ code: 'volume_too_small', permanent: true });
    expect(readdirSync(join(dir, 'volumes'))).toEqual([]);
  });

  it('sweeps half-made volumes when it opens', async () => {
    const half = join(dir, 'volumes', `${randomUUID()}.raw.part`);
    writeFileSync(half, 'x');
    await driver.open();
    expect(existsSync(half)).toBe(false);
  });

  it('says that the pool is full and keeps nothing', async () => {
    const full = join(work, 'full');
    mkdirSync(full);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'vc-pool-test', full]);
    try {
      const small = new LocalPoolDriver('small', full);
      await small.open();
      await expect(
        small.ensure({ volumeId: randomUUID(), bytes: 4 * mib, source: await sourceFile(4 * mib), signal }),
      ).rejects.toMatchObject({ code: 'no_space', permanent: true });
      expect(readdirSync(join(full, 'volumes'))).toEqual([]);
      expect(
        await small.ensure({ volumeId: randomUUID(), bytes: mib, source: await sourceFile(mib), signal }),
      ).toMatchObject({ bytes: mib });
    } finally {
      execFileSync('umount', [full]);
    }
  });
});

describe('verbs', () => {
  class OneImage extends ImageCache {
    uses = 0;
    kernel: CachedKernel | null = null;
    constructor(private readonly file: string) {
      super();
    }
    override async path(): Promise<string> {
      return this.file;
    }
    override async use<T>(_id: string, work: (path: string, kernel: CachedKernel | null) => Promise<T>): Promise<T> {
      this.uses += 1;
      return work(this.file, this.kernel);
    }
  }
  const context: VerbContext = {
    key: 'k',
    fence: 1,
    requestId: undefined,
    log: pino({ level: 'silent' }),
    progress: () => undefined,
    signal,
  };
  const setUp = async (
    driver: 'local' | 'simulated',
  ): Promise<{ pools: Pools; images: OneImage; call: (verb: string, args: object) => Promise<unknown> }> => {
    const dir = join(work, randomUUID());
    const pools = new Pools(
      new Config(coreConfigSchema.parse({}), { storage: storageConfigSchema.parse({ driver }) }),
      new StatePaths(dir, dir),
    );
    await pools.start();
    const images = new OneImage(await sourceFile(mib));
    const byName = new Map<string, VerbHandler>(
      new VolumeHandlers(pools, images).handlers().map((h) => [h.verb.name, h]),
    );
    return { pools, images, call: async (verb, args) => byName.get(verb)?.run(args, context) };
  };

  it('keeps beside a volume what the kernel of its image is, for as long as it stands', async () => {
    const { pools, images, call } = await setUp('local');
    const cached = { kernel: await sourceFile(8192), initramfs: await sourceFile(4096) };
    const driver = pools.require('default');
    const [volumeId, plain] = [randomUUID(), randomUUID()];
    const args = { pool: 'default', bytes: mib, imageId: randomUUID() };
    await call('volume.ensure', { ...args, volumeId: plain });
    images.kernel = cached;
    await call('volume.ensure', { ...args, volumeId });
    await call('volume.ensure', { ...args, volumeId });
    const placed = driver.bootFiles(volumeId);
    expect([statSync(placed.kernel).size, statSync(placed.initramfs).size]).toEqual([8192, 4096]);
    expect(existsSync(driver.bootFiles(plain).kernel)).toBe(false);
    // The cache lets go of it, and the volume does not.
    for (const path of Object.values(cached)) rmSync(path);
    expect(statSync(placed.kernel).size).toBe(8192);
    expect((await driver.files()).filter((file) => file.volumeId === volumeId)).toHaveLength(3);
    await call('volume.absent', { volumeId, pool: 'default' });
    expect((await driver.files()).map((file) => file.volumeId)).toEqual([plain]);
  });

  it('makes no volume whose kernel is not there', async () => {
    const { pools, images, call } = await setUp('local');
    images.kernel = { kernel: await sourceFile(4096), initramfs: join(work, 'none') };
    const volumeId = randomUUID();
    const args = { volumeId, pool: 'default', bytes: mib, imageId: randomUUID() };
    await expect(call('volume.ensure', args)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await pools.require('default').files()).toEqual([]);
  });

  it('ten at once make one volume of one copy', async () => {
    const { pools, images, call } = await setUp('local');
    const args = { volumeId: randomUUID(), pool: 'default', bytes: 2 * mib, imageId: randomUUID() };
    const answers = await Promise.all(Array.from({ length: 10 }, () => call('volume.ensure', args)));
    expect(answers).toEqual(Array.from({ length: 10 }, () => ({ bytes: 2 * mib })));
    expect(images.uses).toBe(1);
    const { path } = await new PoolVolumePaths(pools).locate(args.volumeId, 'default');
    expect(statSync(path).size).toBe(2 * mib);
    await call('volume.absent', { volumeId: args.volumeId, pool: 'default' });
    expect(existsSync(path)).toBe(false);
    await expect(new PoolVolumePaths(pools).locate(args.volumeId, 'default')).rejects.toMatchObject({
      code: 'volume_not_found',
    });
  });

  it('refuses an unknown pool, and reports the ones there are', async () => {
    const { pools, call } = await setUp('local');
    await expect(
      call('volume.ensure', { volumeId: randomUUID(), pool: '../x', bytes: 4096, imageId: null }),
    ).rejects.toMatchObject({ code: 'unknown_pool', permanent: true });
    expect(await new PoolInventorySource(pools).collect()).toEqual([
      { name: 'default', driver: 'local', totalBytes: expect.any(Number), freeBytes: expect.any(Number) },
    ]);
  });

  it('needs no image where volumes have no bytes', async () => {
    const { images, call } = await setUp('simulated');
    expect(
      await call('volume.ensure', {
        volumeId: randomUUID(),
        pool: 'default',
        bytes: 10 * 1024 ** 3,
        imageId: randomUUID(),
      }),
    ).toEqual({ bytes: 10 * 1024 ** 3 });
    expect(images.uses).toBe(0);
  });
});
