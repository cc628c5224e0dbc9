import { randomUUID } from 'node:crypto';
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

    it('knows its capacity', async () => {
      const { totalBytes, freeBytes } = await pool.driver.capacity();
      expect(totalBytes).toBeGreaterThan(0);
      expect(freeBytes).toBeLessThanOrEqual(totalBytes);
    });
  });
};
