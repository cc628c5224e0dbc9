import { Journal, type JournalOpened, type JournalOptions } from '../../host/journal/journal';

export interface VerbError {
  code: string;
  message: string;
  permanent: boolean;
  extra: Record<string, unknown>;
}

/** How a mutating call ended for good. */
export type VerbResult = { verb: string; ok: true; result: unknown } | { verb: string; ok: false; error: VerbError };

type Entry = { kind: 'result'; result: VerbResult } | { kind: 'fence'; fence: number };

const resultKey = (key: string): string => `r:${key}`;
const fenceKey = (task: string): string => `f:${task}`;

/** What the node remembers of management's commands: outcome by key, highest fence by task. */
export class VerbJournal {
  private readonly journal: Journal<Entry>;

  constructor(options: JournalOptions) {
    this.journal = new Journal<Entry>(options);
  }

  open(): Promise<JournalOpened> {
    return this.journal.open();
  }

  close(): Promise<void> {
    return this.journal.close();
  }

  result(key: string): VerbResult | undefined {
    const entry = this.journal.get(resultKey(key));
    return entry?.kind === 'result' ? entry.result : undefined;
  }

  /** On the disk when it resolves. */
  recordResult(key: string, result: VerbResult): Promise<void> {
    return this.journal.put(resultKey(key), { kind: 'result', result }, { sync: true });
  }

  fence(task: string): number | undefined {
    const entry = this.journal.get(fenceKey(task));
    return entry?.kind === 'fence' ? entry.fence : undefined;
  }

  /** Outlives the process when it resolves; the result of the call that brought it makes it durable. */
  recordFence(task: string, fence: number): Promise<void> {
    return this.journal.put(fenceKey(task), { kind: 'fence', fence }, { sync: false });
  }
}
