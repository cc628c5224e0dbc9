import { type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';

export interface JournalOptions {
  /** Folder of its own; the file in it is `journal.log`. */
  dir: string;
  /** Records older than this are forgotten. Milliseconds. Default 24 h. */
  maxAgeMs?: number;
  /** Records at most; the oldest go first. Default 50,000. */
  maxRecords?: number;
}

export interface JournalOpened {
  records: number;
  /** Bytes cut from the end: a write that a crash left unfinished. */
  tornBytes: number;
  /** Damaged lines in the middle, passed over. */
  damaged: number;
}

interface Stored<T> {
  at: number;
  value: T;
}

interface Pending {
  line: string;
  sync: boolean;
  resolve: () => void;
  reject: (error: unknown) => void;
}

const checksum = (text: string): string => crc32(text).toString(16).padStart(8, '0');
const encode = (key: string, at: number, value: unknown): string => {
  const json = JSON.stringify({ k: key, t: at, v: value });
  return `${checksum(json)} ${json}\n`;
};

/**
 * A small durable map: an append-only file of checksummed JSON lines, read into memory when opened. Writes that wait at the same time share
 * one `fdatasync`. A line that a crash cut short is recognised by its checksum and removed. One process per folder.
 */
export class Journal<T> {
  private readonly records = new Map<string, Stored<T>>();
  private readonly maxAgeMs: number;
  private readonly maxRecords: number;
  private handle: FileHandle | undefined;
  private size = 0;
  private lines = 0;
  private queue: Pending[] = [];
  private writing: Promise<void> | undefined;

  constructor(private readonly options: JournalOptions) {
    this.maxAgeMs = options.maxAgeMs ?? 24 * 3_600_000;
    this.maxRecords = options.maxRecords ?? 50_000;
  }

  /** Reads the file and makes it ready for writing. */
  async open(): Promise<JournalOpened> {
    await mkdir(this.options.dir, { recursive: true, mode: 0o700 });
    await rm(`${this.file()}.new`, { force: true });
    this.handle = await open(this.file(), 'a+', 0o600);
    const total = (await this.handle.stat()).size;
    const { good, damaged } = await this.load();
    if (good < total) {
      await this.handle.truncate(good);
      await this.handle.datasync();
    }
    this.size = good;
    this.prune();
    if (this.wasteful()) await this.compact();
    return { records: this.records.size, tornBytes: total - good, damaged };
  }

  get(key: string): T | undefined {
    return this.records.get(key)?.value;
  }

  get count(): number {
    return this.records.size;
  }

  /**
   * Stores a value under a key. Readers see it at once. With `sync` it resolves when it is on the disk, otherwise when the kernel has it
   * (it outlives the process, not a loss of power). Rejects when the file cannot be written; the value is then forgotten again.
   */
  async put(key: string, value: T, options: { sync: boolean }): Promise<void> {
    const before = this.records.get(key);
    const record = { at: Date.now(), value };
    this.records.delete(key);
    this.records.set(key, record);
    try {
      await this.append(encode(key, record.at, value), options.sync);
    } catch (error) {
      if (this.records.get(key) === record) {
        this.records.delete(key);
        if (before) this.records.set(key, before);
      }
      throw error;
    }
  }

  /** Waits for all writes and closes the file. */
  async close(): Promise<void> {
    while (this.writing) await this.writing;
    await this.handle?.close();
    this.handle = undefined;
  }

  private file(): string {
    return join(this.options.dir, 'journal.log');
  }

  private append(line: string, sync: boolean): Promise<void> {
    if (!this.handle) return Promise.reject(new Error('the journal is closed'));
    return new Promise((resolve, reject) => {
      this.queue.push({ line, sync, resolve, reject });
      this.writing ??= this.drain().finally(() => {
        this.writing = undefined;
      });
    });
  }

  private async drain(): Promise<void> {
    while (this.queue.length > 0) {
      const batch = this.queue;
      this.queue = [];
      try {
        await this.write(batch);
        for (const item of batch) item.resolve();
      } catch (error) {
        for (const item of batch) item.reject(error);
      }
    }
  }

  private async write(batch: Pending[]): Promise<void> {
    const handle = this.handle;
    if (!handle) throw new Error('the journal is closed');
    const data = Buffer.from(batch.map((item) => item.line).join(''), 'utf8');
    try {
      await handle.appendFile(data);
      if (batch.some((item) => item.sync)) await handle.datasync();
    } catch (error) {
      // A half-written line must not swallow the next one.
      await handle.truncate(this.size).catch(() => undefined);
      throw error;
    }
    this.size += data.length;
    this.lines += batch.length;
    this.prune();
    if (this.wasteful()) await this.compact();
  }

  private wasteful(): boolean {
    return this.lines > 2 * this.records.size + 1000;
  }

  private prune(): void {
    const oldest = Date.now() - this.maxAgeMs;
    for (const [key, record] of this.records) {
      if (record.at >= oldest && this.records.size <= this.maxRecords) break;
      this.records.delete(key);
    }
  }

  /** Writes what is alive into a new file and puts it in the old one's place: a crash leaves one or the other, whole. */
  private async compact(): Promise<void> {
    const fresh = await open(`${this.file()}.new`, 'w', 0o600);
    let size = 0;
    let lines = 0;
    try {
      let chunk: string[] = [];
      const flush = async (): Promise<void> => {
        const data = Buffer.from(chunk.join(''), 'utf8');
        chunk = [];
        await fresh.appendFile(data);
        size += data.length;
      };
      // Values still on their way to the file are queued and come after this.
      for (const [key, record] of [...this.records]) {
        chunk.push(encode(key, record.at, record.value));
        lines += 1;
        if (chunk.length >= 1000) await flush();
      }
      await flush();
      await fresh.sync();
    } finally {
      await fresh.close();
    }
    await rename(`${this.file()}.new`, this.file());
    const folder = await open(dirname(this.file()), 'r');
    await folder.sync().finally(() => folder.close());
    await this.handle?.close();
    this.handle = await open(this.file(), 'a', 0o600);
    this.size = size;
    this.lines = lines;
  }

  /** The file is bounded by compaction, so it is read whole. Lines are split by byte: no character of a value can look like a line's end. */
  private async load(): Promise<{ good: number; damaged: number }> {
    const data = await readFile(this.file());
    let good = 0;
    let damaged = 0;
    let pendingDamage = 0;
    for (let start = 0, end = data.indexOf(10); end >= 0; start = end + 1, end = data.indexOf(10, start)) {
      const record = parse<T>(data.toString('utf8', start, end));
      if (!record) {
        pendingDamage += 1;
        continue;
      }
      damaged += pendingDamage;
      pendingDamage = 0;
      good = end + 1;
      this.lines += 1;
      this.records.delete(record.key);
      this.records.set(record.key, { at: record.at, value: record.value });
    }
    return { good, damaged };
  }
}

const parse = <T>(line: string): { key: string; at: number; value: T } | null => {
  const json = line.slice(9);
  if (line[8] !== ' ' || checksum(json) !== line.slice(0, 8)) return null;
  const { k, t, v } = JSON.parse(json) as { k: string; t: number; v: T };
  return { key: k, at: t, value: v };
};
