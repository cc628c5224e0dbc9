import { Journal, type JournalOpened } from '../../host/journal/journal';

export interface VerbError {
  code: string;
  message: string;
  permanent: boolean;
  extra: Record<string, unknown>;
  /** What a program or the system said, for operators only. */
  detail?: string;
}

/** How a mutating call ended for good. */
export type VerbResult = { verb: string; ok: true; result: unknown } | { verb: string; ok: false; error: VerbError };

type Entry =
  | { kind: 'result'; result: VerbResult }
  /** `undone`: steps whose undo was asked for. */
  | { kind: 'fence'; fence: number; undone?: string[] }
  /** Tasks made up to here (by their ids) may have been forgotten, fences and all. */
  | { kind: 'floor'; madeAt: number };

export interface VerbJournalOptions {
  dir: string;
  /** Fences of tasks that are over are kept so long, so that a late call is refused without asking. Default 1 h. */
  lateMs?: number;
  /** Fences of tasks that are over at most; the oldest go first. Default 20,000. */
  maxOver?: number;
  /**
   * What management never said a word about is kept so long: far longer than any task may take to end and to be undone
   * (24 h each). Default 30 days.
   */
  unconfirmedMs?: number;
  /** Records at most; beyond them new calls are refused. Default 300,000. */
  maxRecords?: number;
}

interface KnownTask {
  results: Set<string>;
  /** Of its newest record. */
  at: number;
  over: boolean;
}

const floorKey = 'floor';
const resultKey = (key: string): string => `r:${key}`;
const fenceKey = (task: string): string => `f:${task}`;

/** The task of a call's key `task/step/phase[/number]`. */
export const taskOfKey = (key: string): string => key.split('/', 1)[0] ?? key;

/** Milliseconds since the epoch at which a time-ordered UUID (version 7) was made; null for every other name. */
const madeAt = (task: string): number | null =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(task)
    ? Number.parseInt(task.slice(0, 8) + task.slice(9, 13), 16)
    : null;

/**
 * What the node remembers of management's commands: outcome by key; highest fence, and steps asked to be undone, by
 * task.
 *
 * Results go when management says that their task is over, for then nobody can ask for them; fences follow a while
 * later. From then on a call of a task of that age which is not known here has to be verified with management
 * (`mustBeVerified`), so forgetting admits no late call.
 */
export class VerbJournal {
  private readonly journal: Journal<Entry>;
  private readonly tasks = new Map<string, KnownTask>();
  private readonly lateMs: number;
  private readonly maxOver: number;
  private readonly unconfirmedMs: number;
  private readonly maxRecords: number;

  constructor(options: VerbJournalOptions) {
    const {
      dir,
      maxRecords = 300_000,
      lateMs = 3_600_000,
      maxOver = 20_000,
      unconfirmedMs = 30 * 86_400_000,
    } = options;
    this.journal = new Journal<Entry>({ dir, maxRecords });
    this.maxRecords = maxRecords;
    this.lateMs = lateMs;
    this.maxOver = maxOver;
    this.unconfirmedMs = unconfirmedMs;
  }

  async open(): Promise<JournalOpened> {
    const opened = await this.journal.open();
    for (const { key, at, value } of this.journal.entries()) {
      if (value.kind === 'result') this.noteResult(key.slice(2), at);
      else if (value.kind === 'fence') this.note(key.slice(2), at);
    }
    return opened;
  }

  close(): Promise<void> {
    return this.journal.close();
  }

  get count(): number {
    return this.journal.count;
  }

  /** False when new calls must wait: the rest of the room is for the results of those at work. */
  get hasRoom(): boolean {
    return this.journal.count < 0.95 * this.maxRecords;
  }

  result(key: string): VerbResult | undefined {
    const entry = this.journal.get(resultKey(key));
    return entry?.kind === 'result' ? entry.result : undefined;
  }

  /** On the disk when it resolves. */
  async recordResult(key: string, result: VerbResult): Promise<void> {
    await this.journal.put(resultKey(key), { kind: 'result', result }, { sync: true });
    this.noteResult(key, Date.now());
  }

  fence(task: string): number | undefined {
    return this.fenceEntry(task)?.fence;
  }

  isUndone(task: string, step: string): boolean {
    return this.fenceEntry(task)?.undone?.includes(step) ?? false;
  }

  /**
   * Outlives the process when it resolves. A first fence becomes durable with the result of the call that brought it; a
   * higher one at once, because the worker before it may still have a call on its way.
   */
  async recordFence(task: string, fence: number): Promise<void> {
    const { undone } = this.fenceEntry(task) ?? {};
    await this.journal.put(fenceKey(task), { kind: 'fence', fence, ...(undone && { undone }) }, { sync: fence > 1 });
    this.note(task, Date.now());
  }

  /** The step's undo was asked for: from here on no call that does it may begin. On the disk when it resolves. */
  async recordUndone(task: string, fence: number, step: string): Promise<void> {
    const undone = [...new Set([...(this.fenceEntry(task)?.undone ?? []), step])];
    await this.journal.put(fenceKey(task), { kind: 'fence', fence, undone }, { sync: true });
    this.note(task, Date.now());
  }

  /** Whether records of this task may have been here once and are forgotten. */
  mustBeVerified(task: string): boolean {
    if (this.tasks.has(task)) return false;
    const made = madeAt(task);
    return made !== null && made <= this.floor();
  }

  /**
   * Tasks that were quiet for `quietMs` and are not known to be over: management is asked about them. Those quiet for
   * longest come first.
   */
  unconfirmed(quietMs: number, now = Date.now()): string[] {
    return [...this.tasks]
      .filter(([, known]) => !known.over && known.at <= now - quietMs)
      .sort(([, a], [, b]) => a.at - b.at)
      .map(([task]) => task);
  }

  /** Management said which of the tasks that it was asked about are over, for good and durably, and which are not. */
  confirm(over: Iterable<string>, live: Iterable<string>): void {
    const now = Date.now();
    for (const task of live) {
      const known = this.tasks.get(task);
      if (known) known.at = now;
    }
    for (const task of over) {
      const known = this.tasks.get(task);
      if (!known || known.over) continue;
      this.dropResults(known);
      Object.assign(known, { over: true, at: now });
    }
  }

  /**
   * Forgets fences that are old enough. Returns how many tasks were forgotten, and how many of them management never
   * spoke of.
   */
  async prune(now = Date.now()): Promise<{ forgotten: number; unconfirmed: number }> {
    const entries = [...this.tasks];
    const over = entries.filter(([, known]) => known.over).sort(([, a], [, b]) => a.at - b.at);
    const surplus = over.length - this.maxOver;
    const late = over.filter(([, known], index) => index < surplus || known.at <= now - this.lateMs);
    const abandoned = entries.filter(([, known]) => !known.over && known.at <= now - this.unconfirmedMs);
    const going = [...late, ...abandoned];
    if (going.length === 0) return { forgotten: 0, unconfirmed: 0 };
    const floor = going.reduce((highest, [task]) => Math.max(highest, madeAt(task) ?? 0), this.floor());
    // First the floor, then the records that it stands for.
    if (floor > this.floor()) await this.journal.put(floorKey, { kind: 'floor', madeAt: floor }, { sync: true });
    for (const [task, known] of going) {
      this.dropResults(known);
      this.journal.drop(fenceKey(task));
      this.tasks.delete(task);
    }
    return { forgotten: going.length, unconfirmed: abandoned.length };
  }

  private floor(): number {
    const entry = this.journal.get(floorKey);
    return entry?.kind === 'floor' ? entry.madeAt : -1;
  }

  private fenceEntry(task: string): (Entry & { kind: 'fence' }) | undefined {
    const entry = this.journal.get(fenceKey(task));
    return entry?.kind === 'fence' ? entry : undefined;
  }

  private noteResult(key: string, at: number): void {
    this.note(taskOfKey(key), at).results.add(key);
  }

  private note(task: string, at: number): KnownTask {
    const known = this.tasks.get(task) ?? { results: new Set(), at, over: false };
    Object.assign(known, { at: Math.max(known.at, at), over: false });
    this.tasks.set(task, known);
    return known;
  }

  private dropResults(known: KnownTask): void {
    for (const key of known.results) this.journal.drop(resultKey(key));
    known.results.clear();
  }
}
