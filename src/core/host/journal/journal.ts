import { appendFileSync } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '../files/sync-directory';
import { decodeJournal, encodeRecord, isNewer, journalHeader } from './journal-lines';

export interface JournalOptions {
  /** Folder of its own; the file in it is `journal.log`. */
  dir: string;
  /** Records at most: one more is refused with `JournalFullError`. Default 300,000. */
  maxRecords?: number;
}

export interface JournalOpened {
  records: number;
  /** Bytes cut from the end: a write that a crash left unfinished. */
  tornBytes: number;
  /** Damaged lines in the middle, passed over. */
  damaged: number;
  /**
   * The file was there and had nothing in it, not even the line that every journal begins with: what it held is lost.
   */
  emptied: boolean;
  /** A newer build wrote it: it is kept beside a new one, which knows nothing of what it held. */
  newer: boolean;
}

/** The journal has as many records as it may have. */
export class JournalFullError extends Error {
  constructor(limit: number) {
    super(`the journal has ${limit} records and takes no more`);
    this.name = 'JournalFullError';
  }
}

interface Stored<T> {
  /** Milliseconds since the epoch. */
  at: number;
  value: T;
}

interface Pending {
  line: string;
  sync: boolean;
  resolve: () => void;
  reject: (error: unknown) => void;
}

const spareLines = 1000;

/**
 * A small durable map: an append-only file of checksummed JSON lines, read into memory when opened. Writes that wait at
 * the same time share one `fdatasync`. A line that a crash cut short is recognised by its checksum and removed. One
 * process per folder.
 */
export class Journal<T> {
  private readonly records = new Map<string, Stored<T>>();
  private readonly maxRecords: number;
  private handle: FileHandle | undefined;
  private size = 0;
  private lines = 0;
  private compactAt = 0;
  /** The end of the file may hold half a line that could not be cut off. */
  private ragged = false;
  /** What was written may not be what the disk has: the file is written anew before anything is added. */
  private suspect = false;
  /** The file's name may not be on the disk yet. */
  private unnamed = false;
  private queue: Pending[] = [];
  private writing: Promise<void> | undefined;

  constructor(private readonly options: JournalOptions) {
    this.maxRecords = options.maxRecords ?? 300_000;
  }

  /** Reads the file and makes it ready for writing. */
  async open(): Promise<JournalOpened> {
    const { dir } = this.options;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await rm(this.file('.new'), { force: true });
    const data = await this.read();
    const decoded = decodeJournal<T>(data ?? Buffer.alloc(0));
    const { good, lines, damaged } = decoded;
    const newer = isNewer(decoded);
    if (newer) {
      await rename(this.file(), this.file('.newer'));
      await this.rewrite();
      return { records: 0, tornBytes: 0, damaged: 0, emptied: false, newer };
    }
    for (const { key, at, value } of decoded.records) {
      this.records.delete(key);
      this.records.set(key, { at, value });
    }
    this.lines = lines;
    const tornBytes = (data?.length ?? 0) - good;
    if (good === 0) await this.begin(tornBytes > 0);
    else await this.reuse(good, tornBytes > 0);
    return { records: this.records.size, tornBytes, damaged, emptied: data?.length === 0, newer };
  }

  get(key: string): T | undefined {
    return this.records.get(key)?.value;
  }

  get count(): number {
    return this.records.size;
  }

  /** All records, those written last at the end. */
  *entries(): Generator<{ key: string; at: number; value: T }> {
    for (const [key, { at, value }] of this.records) yield { key, at, value };
  }

  /**
   * Stores a value under a key. Readers see it at once. With `sync` it resolves when it is on the disk, otherwise when
   * the kernel has it (it outlives the process, not a loss of power). Rejects when the file cannot be written, and with
   * `JournalFullError`; the value is then forgotten again.
   */
  async put(key: string, value: T, options: { sync: boolean }): Promise<void> {
    const before = this.records.get(key);
    if (!before && this.records.size >= this.maxRecords) throw new JournalFullError(this.maxRecords);
    const record = { at: Date.now(), value };
    this.records.delete(key);
    this.records.set(key, record);
    try {
      await this.append(encodeRecord(key, record.at, value), options.sync);
    } catch (error) {
      if (this.records.get(key) === record) {
        this.records.delete(key);
        if (before) this.records.set(key, before);
      }
      throw error;
    }
  }

  /** Forgets a record. The file loses it when it is next written anew: after a restart it may be there once more. */
  drop(key: string): void {
    this.records.delete(key);
  }

  /** Waits for all writes and closes the file. */
  async close(): Promise<void> {
    while (this.writing) await this.writing;
    await this.handle?.close();
    this.handle = undefined;
  }

  private file(suffix = ''): string {
    return join(this.options.dir, `journal.log${suffix}`);
  }

  /** The file is bounded by compaction, so it is read whole. Undefined when there is none. */
  private async read(): Promise<Buffer | undefined> {
    try {
      return await readFile(this.file());
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** A file of which nothing can be read is kept beside the new one, for whoever wants to know what happened. */
  private async begin(keepOld: boolean): Promise<void> {
    if (keepOld) await rename(this.file(), this.file('.damaged'));
    await this.rewrite();
  }

  private async reuse(good: number, torn: boolean): Promise<void> {
    this.handle = await open(this.file(), 'a', 0o600);
    this.size = good;
    if (torn) {
      await this.handle.truncate(good);
      await this.handle.datasync();
    }
    await this.compactIfWasteful();
  }

  private append(line: string, sync: boolean): Promise<void> {
    if (!this.handle) return Promise.reject(new Error('the journal is closed'));
    return new Promise((resolve, reject) => {
      this.queue.push({ line, sync, resolve, reject });
      this.writing ??= this.drain();
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
      await this.compactIfWasteful();
    }
    // At once with the look at the queue: what comes from here on starts anew.
    this.writing = undefined;
  }

  private async write(batch: Pending[]): Promise<void> {
    // The new file has the batch in it: its values are in memory.
    if (this.suspect) return this.rewrite();
    const handle = this.handle;
    if (!handle) throw new Error('the journal is closed');
    if (this.unnamed) await this.syncName();
    const data = Buffer.from((this.ragged ? '\n' : '') + batch.map((item) => item.line).join(''), 'utf8');
    try {
      this.add(handle, data);
    } catch (error) {
      // Half a line must not swallow the next one.
      await handle.truncate(this.size).then(
        () => (this.ragged = false),
        () => (this.ragged = true),
      );
      throw error;
    }
    this.ragged = false;
    this.size += data.length;
    this.lines += batch.length;
    if (!batch.some((item) => item.sync)) return;
    try {
      await handle.datasync();
    } catch (error) {
      // After a failed sync the kernel may take lost pages for written ones, so another sync would prove nothing.
      this.suspect = true;
      throw error;
    }
  }

  /** Into the kernel's memory, at once: the way through the thread pool takes longer. */
  private add({ fd }: FileHandle, data: Buffer): void {
    appendFileSync(fd, data);
  }

  /** A file that cannot be made smaller now is made so later: nothing that was stored depends on it. */
  private async compactIfWasteful(): Promise<void> {
    if (this.lines <= Math.max(this.compactAt, 2 * this.records.size + spareLines)) return;
    await this.rewrite().catch(() => {
      this.compactAt = this.lines + spareLines;
    });
  }

  /**
   * Writes what is alive into a new file and puts it in the old one's place: a crash leaves one or the other, whole.
   * That includes values that still wait to be written: each has its line once, or a reader of the file would take it
   * for done twice.
   */
  private async rewrite(): Promise<void> {
    const covered = this.queue;
    this.queue = [];
    try {
      await this.renew();
    } catch (error) {
      this.queue = [...covered, ...this.queue];
      throw error;
    }
    for (const item of covered) item.resolve();
  }

  private async renew(): Promise<void> {
    // Taken before anything is awaited: what is put from here on is queued.
    const alive = [...this.records];
    await rm(this.file('.new'), { force: true });
    const fresh = await open(this.file('.new'), 'ax', 0o600);
    let size = 0;
    let lines = 1;
    try {
      let chunk: string[] = [journalHeader];
      const flush = async (): Promise<void> => {
        const data = Buffer.from(chunk.join(''), 'utf8');
        chunk = [];
        await fresh.appendFile(data);
        size += data.length;
      };
      for (const [key, record] of alive) {
        chunk.push(encodeRecord(key, record.at, record.value));
        lines += 1;
        if (chunk.length >= 1000) await flush();
      }
      await flush();
      await fresh.sync();
      await rename(this.file('.new'), this.file());
    } catch (error) {
      await fresh.close().catch(() => undefined);
      await rm(this.file('.new'), { force: true }).catch(() => undefined);
      throw error;
    }
    const old = this.handle;
    Object.assign(this, { handle: fresh, size, lines, compactAt: 0, suspect: false, ragged: false, unnamed: true });
    await old?.close().catch(() => undefined);
    await this.syncName();
  }

  private async syncName(): Promise<void> {
    await syncDirectory(this.options.dir);
    this.unnamed = false;
  }
}
