import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Journal, type JournalOptions } from './journal';

describe('Journal', () => {
  let dir: string;
  let file: string;
  const open = async (options: Partial<JournalOptions> = {}): Promise<Journal<unknown>> => {
    const journal = new Journal<unknown>({ dir, ...options });
    await journal.open();
    return journal;
  };
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'vc-journal-'));
    file = join(dir, 'journal.log');
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('has after a restart what it had before, strange characters included', async () => {
    const first = await open();
    await Promise.all(Array.from({ length: 200 }, (_, i) => first.put(`k${i % 150}`, { i, text: 'é\u2028\n"\u0000' }, { sync: i % 2 === 0 })));
    await first.close();
    const second = await open();
    expect(second.count).toBe(150);
    expect(second.get('k0')).toEqual({ i: 150, text: 'é\u2028\n"\u0000' });
    expect(second.get('k149')).toEqual({ i: 149, text: 'é\u2028\n"\u0000' });
    await second.close();
  });

  it('cuts a torn tail at every possible length', async () => {
    const first = await open();
    await first.put('a', 1, { sync: true });
    const kept = statSync(file).size;
    await first.put('b', 'some value', { sync: true });
    await first.close();
    const whole = readFileSync(file);
    for (let size = kept; size < whole.length; size += 1) {
      writeFileSync(file, whole);
      truncateSync(file, size);
      const journal = new Journal<unknown>({ dir });
      expect(await journal.open()).toEqual({ records: 1, tornBytes: size - kept, damaged: 0 });
      expect(statSync(file).size).toBe(kept);
      await journal.put('c', 2, { sync: true });
      await journal.close();
      const again = await open();
      expect([again.get('a'), again.get('b'), again.get('c')]).toEqual([1, undefined, 2]);
      await again.close();
    }
  });

  it('passes over a damaged line in the middle', async () => {
    const first = await open();
    for (const key of ['a', 'b', 'c']) await first.put(key, key, { sync: true });
    await first.close();
    writeFileSync(file, readFileSync(file, 'utf8').replace('"k":"b"', '"k":"x"'));
    const journal = new Journal<unknown>({ dir });
    expect(await journal.open()).toEqual({ records: 2, tornBytes: 0, damaged: 1 });
    expect(journal.get('x')).toBeUndefined();
    await journal.close();
  });

  it('stays small: overwritten and surplus records leave the file', async () => {
    const journal = await open({ maxRecords: 10 });
    for (let i = 0; i < 30; i += 1) await Promise.all(Array.from({ length: 200 }, (_, n) => journal.put(`k${n}`, i, { sync: false })));
    expect(journal.count).toBeLessThanOrEqual(10);
    await journal.close();
    expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThan(1_300);
    const again = await open({ maxRecords: 10 });
    expect(again.get('k199')).toBe(29);
    await again.close();
  });

  it('forgets old records', async () => {
    const journal = await open({ maxAgeMs: 1 });
    await journal.put('a', 1, { sync: true });
    const end = Date.now() + 3;
    while (Date.now() < end) await Promise.resolve();
    await journal.put('b', 1, { sync: true });
    expect(journal.get('a')).toBeUndefined();
    await journal.close();
  });

  it('survives a file that is not a journal, and a compaction that was cut short', async () => {
    appendFileSync(file, 'no journal\n\n{}\n');
    writeFileSync(`${file}.new`, 'half');
    const journal = new Journal<unknown>({ dir });
    expect(await journal.open()).toMatchObject({ records: 0, tornBytes: 15 });
    await journal.put('a', 1, { sync: true });
    await journal.close();
    await expect(journal.put('b', 1, { sync: true })).rejects.toThrow('closed');
    expect(journal.get('b')).toBeUndefined();
  });
});
