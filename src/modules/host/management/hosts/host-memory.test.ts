import { hugePagesOf, plainMemory } from './host-memory';

const MiB = 2 ** 20;

it('takes huge pages of every size off the memory, and counts those that instances can have', () => {
  const pool = (sizeBytes: number, total: number) => ({ sizeBytes, total, free: 0 });
  const memory = {
    totalBytes: 16 * 1024 * MiB,
    hugepages: [pool(2 * MiB, 512), pool(1024 * MiB, 3), pool(64 * 1024, 16)],
  };
  expect(hugePagesOf(memory)).toEqual({ '2MiB': 1024 * MiB, '1GiB': 3 * 1024 * MiB });
  expect(plainMemory(memory)).toBe((12 * 1024 - 1) * MiB);
  expect(hugePagesOf({ totalBytes: MiB, hugepages: [] })).toEqual({ '2MiB': 0, '1GiB': 0 });
  expect(plainMemory({ totalBytes: MiB, hugepages: [pool(2 * MiB, 1)] })).toBe(0);
});
