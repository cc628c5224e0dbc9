import { waitGone, type ProcessIdentity } from '../processes/process-identity';
import { LauncherGone } from './launcher-gone';
import type { LauncherNews } from './launcher-messages';

/** Milliseconds: for as long as it takes. */
const whole = Number.POSITIVE_INFINITY;

/** A chain that the launcher was told to start: what is known of it, and what it may be told. */
export class LaunchedChain {
  private readonly identified = Promise.withResolvers<ProcessIdentity | null>();
  private readonly begun = Promise.withResolvers<void>();
  private readonly over = Promise.withResolvers<string>();
  private readonly letGo = new AbortController();
  private how: string | null = null;
  private found: ProcessIdentity | null = null;

  constructor(private readonly tell: (what: 'begin' | 'end') => void) {
    // Whoever asks hears of a failure; nobody needs to.
    for (const { promise } of [this.identified, this.begun]) promise.catch(() => undefined);
  }

  /** Its program, as soon as there is one; null when the chain failed before. Rejects when it was not started at all. */
  get program(): Promise<ProcessIdentity | null> {
    return this.identified.promise;
  }

  /** Resolves when it has ended: with how, where that is known. Not for what was let go of before. */
  get ended(): Promise<string> {
    return this.over.promise;
  }

  hasEnded(): boolean {
    return this.how !== null;
  }

  /**
   * What was held back begins. Rejects with `LauncherGone` when it may have begun before, by itself, and when the chain
   * has ended.
   */
  begin(): Promise<void> {
    this.tell('begin');
    return this.begun.promise;
  }

  /** Ends the chain's own process, the one that waits for the program. */
  end(): void {
    this.letGo.abort();
    this.tell('end');
  }

  /** Whoever waits for the program goes on, and nobody here listens any more. */
  letBe(): void {
    this.letGo.abort();
  }

  /** What the launcher says of it. True when that was the last. */
  heard(news: LauncherNews): boolean {
    if ('program' in news) this.identified.resolve((this.found = news.program));
    else if ('begun' in news) this.begun.resolve();
    else if ('failed' in news) this.fail(new Error(news.failed));
    else this.finish(news.ended);
    return 'failed' in news || 'ended' in news;
  }

  /** The launcher is gone, and its program, if there is one, is nobody's child any more. */
  lost(): void {
    this.fail(new LauncherGone());
    if (this.found) void waitGone(this.found, whole, this.letGo.signal).then((is) => is && this.finish('ended'));
  }

  private fail(error: Error): void {
    this.identified.reject(error);
    this.begun.reject(error);
  }

  private finish(how: string): void {
    this.how ??= how;
    this.over.resolve(this.how);
    // Without effect where it had begun.
    this.begun.reject(new Error(`the program was not begun: what waited for it ended (${this.how})`));
  }
}
