import type { FileHandle } from 'node:fs/promises';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJournal, encodeRecord } from './journal-lines';
import { Journal, JournalFullError, type JournalOptions } from './journal';

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
    await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        first.put(`k${i % 150}`, { i, text: 'é\u2028\n"\u0000' }, { sync: i % 2 === 0 }),
      ),
    );
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
      expect(await journal.open()).toEqual({
        records: 1,
        tornBytes: size - kept,
        damaged: 0,
        emptied: false,
        newer: false,
      });
      expect(statSync(file).size).toBe(kept);
      await journal.put('c', 2, { sync: true });
      await journal.close();
      const again = await open();
      expect([again.get('a'), again.get('b'), again.get('c')]).toEqual([1, undefined, 2]);
      await again.close();
    }
  });

  it('takes any flipped bit of a record for damage: no wrong value, and none but its own record lost', async () => {
    const first = await open();
    await first.put('a', 1, { sync: true });
    const from = statSync(file).size;
    await first.put('b', 'some value', { sync: true });
    const to = statSync(file).size;
    for (const key of ['c', 'd']) await first.put(key, 3, { sync: true });
    await first.close();
    const whole = readFileSync(file);
    for (let at = from; at < to; at += 1) {
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (at % 8)), at);
      writeFileSync(file, bytes);
      const journal = new Journal<unknown>({ dir });
      const opened = await journal.open();
      expect(opened.tornBytes).toBe(0);
      expect(opened.damaged).toBeGreaterThanOrEqual(1);
      expect([journal.get('a'), journal.get('b'), journal.get('d')]).toEqual([1, undefined, 3]);
      // The line's end is the only byte that two records share.
      if (at < to - 1) expect(journal.get('c')).toBe(3);
      await journal.close();
    }
  });

  it('tells an emptied file from one that is new', async () => {
    const look = async () => {
      const journal = new Journal({ dir });
      const opened = await journal.open();
      await journal.close();
      return opened;
    };
    expect(await look()).toMatchObject({ emptied: false, newer: false });
    expect(await look()).toEqual({ records: 0, tornBytes: 0, damaged: 0, emptied: false, newer: false });
    truncateSync(file, 0);
    expect(await look()).toEqual({ records: 0, tornBytes: 0, damaged: 0, emptied: true, newer: false });
    expect(await look()).toMatchObject({ emptied: false, newer: false });
  });

  it('adds to a file whose last line has no end without losing what it adds', async () => {
    const first = await open();
    await first.put('a', 1, { sync: true });
    await first.close();
    appendFileSync(file, readFileSync(file).subarray(0, -1));
    const journal = new Journal<unknown>({ dir });
    expect((await journal.open()).tornBytes).toBeGreaterThan(0);
    await journal.put('b', 2, { sync: true });
    await journal.close();
    const again = await open();
    expect([again.get('a'), again.get('b')]).toEqual([1, 2]);
    await again.close();
  });

  it('keeps a file aside of which nothing can be read, and passes over a compaction that was cut short', async () => {
    appendFileSync(file, 'no journal\n\n{}\n');
    writeFileSync(`${file}.new`, 'half');
    const journal = new Journal<unknown>({ dir });
    expect(await journal.open()).toMatchObject({ records: 0, tornBytes: 15 });
    expect(readFileSync(`${file}.damaged`, 'utf8')).toBe('no journal\n\n{}\n');
    await journal.put('a', 1, { sync: true });
    await journal.close();
    await expect(journal.put('b', 1, { sync: true })).rejects.toThrow('closed');
    expect(journal.get('b')).toBeUndefined();
    const again = await open();
    expect(again.get('a')).toBe(1);
    await again.close();
  });

  it('stays small: overwritten and dropped records leave the file', async () => {
    const journal = await open();
    for (let i = 0; i < 30; i += 1) {
      await Promise.all(Array.from({ length: 200 }, (_, n) => journal.put(`k${n}`, i, { sync: false })));
      for (let n = 0; n < 190; n += 1) journal.drop(`k${n}`);
    }
    expect(journal.count).toBe(10);
    await journal.close();
    expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThan(1_300);
    const again = await open();
    expect(again.get('k199')).toBe(29);
    await again.close();
  });

  it('refuses more records than it may have, and none of those that it has', async () => {
    const journal = await open({ maxRecords: 2 });
    await journal.put('a', 1, { sync: false });
    await journal.put('b', 1, { sync: false });
    await expect(journal.put('c', 1, { sync: false })).rejects.toBeInstanceOf(JournalFullError);
    await journal.put('a', 2, { sync: false });
    journal.drop('b');
    await journal.put('c', 1, { sync: true });
    expect([...journal.entries()].map((e) => e.key)).toEqual(['a', 'c']);
    await journal.close();
  });

  it('writes the file anew after a sync that failed, and does not take the record for stored', async () => {
    const journal = await open();
    await journal.put('a', 1, { sync: true });
    const handle = (journal as unknown as { handle: { datasync: () => Promise<void> } }).handle;
    handle.datasync = () => Promise.reject(Object.assign(new Error('i/o error'), { code: 'EIO' }));
    await expect(journal.put('b', 2, { sync: true })).rejects.toThrow('i/o error');
    expect(journal.get('b')).toBeUndefined();
    await journal.put('c', 3, { sync: true });
    await journal.close();
    const again = await open();
    expect([again.get('a'), again.get('c')]).toEqual([1, 3]);
    await again.close();
  });

  it('keeps half a line that could not be cut off away from the next record', async () => {
    const journal = await open();
    await journal.put('a', 1, { sync: true });
    const inside = journal as unknown as {
      add: (handle: FileHandle, data: Buffer) => void;
      handle: { truncate: () => Promise<void> };
    };
    const { add, handle } = inside;
    const { truncate } = handle;
    inside.add = (file, data) => {
      add(file, data.subarray(0, 20));
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    };
    handle.truncate = () => Promise.reject(new Error('no'));
    await expect(journal.put('b', 2, { sync: true })).rejects.toThrow('no space');
    inside.add = add;
    handle.truncate = truncate;
    await journal.put('c', 3, { sync: true });
    await journal.close();
    const again = new Journal<unknown>({ dir });
    expect(await again.open()).toMatchObject({ records: 2, damaged: 1, tornBytes: 0 });
    expect([again.get('a'), again.get('b'), again.get('c')]).toEqual([1, undefined, 3]);
    await again.close();
  });

  it('writes what waits while the file is made smaller once', async () => {
    const journal = new Journal<number>({ dir });
    await journal.open();
    const old = Array.from({ length: 1010 }, (_, i) => `old-${i}`);
    await Promise.all(old.map((key, i) => journal.put(key, i, { sync: false })));
    for (const key of old) journal.drop(key);
    // The first is being written when the second comes; after it the file is made smaller, and the second is on its
    // way.
    await Promise.all([journal.put('first', 1, { sync: true }), journal.put('second', 2, { sync: true })]);
    expect(
      decodeJournal<number>(readFileSync(join(dir, 'journal.log'))).records.map(({ key, value }) => [key, value]),
    ).toEqual([
      ['first', 1],
      ['second', 2],
    ]);
    await journal.put('third', 3, { sync: true });
    await journal.close();
    const again = new Journal<number>({ dir });
    await again.open();
    expect([...again.entries()].map(({ key }) => key)).toEqual(['first', 'second', 'third']);
    await again.close();
  });

  it('keeps a file of a newer format aside and begins anew', async () => {
    const newer = encodeRecord('', 0, { format: 2 }) + encodeRecord('a', 1, 'in words that are not known');
    writeFileSync(file, newer);
    const journal = new Journal<unknown>({ dir });
    expect(await journal.open()).toMatchObject({ records: 0, newer: true });
    await journal.put('b', 2, { sync: true });
    await journal.close();
    expect(readFileSync(`${file}.newer`, 'utf8')).toBe(newer);
    const again = new Journal<unknown>({ dir });
    expect(await again.open()).toMatchObject({ records: 1, newer: false });
    await again.close();
  });
});
