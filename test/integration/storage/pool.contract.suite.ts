import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { PoolDriver } from '../../../src/modules/storage/node/drivers/pool.driver';

export interface PoolUnderTest {
  driver: PoolDriver;
  /** A file of this size to copy from. */
  source: (bytes: number) => Promise<string>;
  /** The driver as a restarted agent has it. */
  reopen: () => Promise<PoolDriver>;
  /** Names of all files of the pool. */
  files: () => string[];
  close: () => Promise<void>;
}

/** What every pool driver does alike. */
export const poolContract = (what: string, make: () => Promise<PoolUnderTest>): void => {
  describe(`pool driver ${what}`, () => {
    let pool: PoolUnderTest;
    const signal = new AbortController().signal;
    beforeEach(async () => {
      pool = await make();
    });
    afterEach(() => pool.close());

    it('makes a volume, finds it, and makes it once', async () => {
      const volumeId = randomUUID();
      expect(await pool.driver.find(volumeId)).toBeNull();
      const made = await pool.driver.ensure({ volumeId, bytes: 1_003_520, source: null, signal });
      expect(made).toMatchObject({ format: 'raw', bytes: 1_003_520 });
      expect(await pool.driver.ensure({ volumeId, bytes: 1_003_520, source: null, signal })).toEqual(made);
      expect(await pool.driver.find(volumeId)).toEqual(made);
      expect(await (await pool.reopen()).find(volumeId)).toEqual(made);
    });

    it('grows and never shrinks', async () => {
      const volumeId = randomUUID();
      await pool.driver.ensure({ volumeId, bytes: 8192, source: null, signal });
      expect(await pool.driver.ensure({ volumeId, bytes: 16_384, source: null, signal })).toMatchObject({
        bytes: 16_384,
      });
      expect(await pool.driver.ensure({ volumeId, bytes: 8192, source: null, signal })).toMatchObject({
        bytes: 16_384,
      });
    });

    it('removes a volume whole, as often as asked', async () => {
      const volumeId = randomUUID();
      await pool.driver.ensure({ volumeId, bytes: 8192, source: await pool.source(4096), signal });
      await pool.driver.absent(volumeId);
      await pool.driver.absent(volumeId);
      await pool.driver.absent(randomUUID());
      expect(await pool.driver.find(volumeId)).toBeNull();
      expect(pool.files()).toEqual([]);
    });

    it('gives a volume to one instance of the host at a time, and removes none that one has', async () => {
      const { driver } = pool;
      const [volumeId, other] = [randomUUID(), randomUUID()];
      const { path } = await driver.ensure({ volumeId, bytes: 8192, source: null, signal });
      await driver.ensure({ volumeId: other, bytes: 8192, source: null, signal });
      const [first, second] = [randomUUID(), randomUUID()];
      const given = await driver.attached.add(first, volumeId, path);
      expect(await driver.attached.add(first, volumeId, path)).toBe(given);
      expect(statSync(given).ino).toBe(statSync(path).ino);
      expect(given.startsWith(await driver.attached.folderOf(first))).toBe(true);
      const held = { name: 'VerbFailure', code: 'volume_held', permanent: false };
      await expect(driver.attached.add(second, volumeId, path)).rejects.toMatchObject(held);
      await expect(driver.absent(volumeId)).rejects.toMatchObject(held);
      // A restarted agent knows it too.
      const again = await pool.reopen();
      expect(await again.attached.of(first)).toEqual([volumeId]);
      await expect(again.absent(volumeId)).rejects.toMatchObject(held);
      chownSync(given, 1234, 1234);
      await again.attached.remove(first, volumeId);
      await again.attached.remove(first, volumeId);
      expect([await again.attached.of(first), statSync(path).uid, statSync(path).mode & 0o777]).toEqual([[], 0, 0o600]);
      await driver.attached.add(second, volumeId, path);
      await driver.attached.forget(second);
      await driver.attached.forget(second);
      await driver.attached.forget(first);
      expect(existsSync(dirname(given))).toBe(false);
      await driver.absent(volumeId);
      await driver.absent(other);
      expect(pool.files()).toEqual([]);
    });

    it('knows its capacity', async () => {
      const { totalBytes, freeBytes } = await pool.driver.capacity();
      expect(totalBytes).toBeGreaterThan(0);
      expect(freeBytes).toBeLessThanOrEqual(totalBytes);
    });
  });
};
