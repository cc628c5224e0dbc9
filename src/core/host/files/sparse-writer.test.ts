import { mkdtemp, open, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { SparseWriter } from './sparse-writer';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'vc-sparse-'));
});
afterAll(() => rm(dir, { recursive: true }));

const write = async (chunks: Buffer[]): Promise<{ path: string; writer: SparseWriter }> => {
  const path = join(dir, 'file');
  const file = await open(path, 'w');
  const writer = new SparseWriter(file);
  try {
    for (const chunk of chunks) await writer.write(chunk);
    await writer.finish();
  } finally {
    await file.close();
  }
  return { path, writer };
};

it('gives back exactly the bytes written, in whatever chunks', async () => {
  const chunk = fc.oneof(
    fc.integer({ min: 0, max: 20_000 }).map((n) => Buffer.alloc(n)),
    fc.uint8Array({ maxLength: 9_000 }).map((a) => Buffer.from(a)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(chunk, { maxLength: 8 }), async (chunks) => {
      const whole = Buffer.concat(chunks);
      const { path, writer } = await write(chunks);
      expect(writer.bytes).toBe(whole.length);
      expect((await readFile(path)).equals(whole)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

it('leaves zeros out of the disk', async () => {
  const chunks = Array.from({ length: 64 }, () => Buffer.alloc(1024 * 1024));
  chunks[10]?.fill(7, 5_000, 6_000);
  const { path } = await write(chunks);
  const { size, blocks } = await stat(path);
  expect(size).toBe(64 * 1024 * 1024);
  expect(blocks * 512).toBeLessThan(65_536);
});
