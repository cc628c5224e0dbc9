import { injectable } from 'inversify';
import { authorityChannel } from '../../../../core/auth/channels/channels';
import { Database } from '../../../../core/db/database';

/**
 * Longest time for which an answer is repeated, in milliseconds. Notices come within one or two of a change; this
 * bounds what one that got lost without anybody noticing can do.
 */
const maxAgeMs = 5_000;
const maxEntries = 10_000;

/** What the database said about somebody's authority. */
export interface Known<T> {
  value: T;
  /** Ids of users, sessions, API tokens and projects: a change to any of them makes it stale. */
  ids: readonly string[];
  /** How long it holds by itself, on the database's clock; null: without end. */
  seconds: number | null;
}

interface Entry extends Omit<Known<unknown>, 'seconds'> {
  /** Of `performance.now()`. */
  until: number;
  /** The listening connection that would have told of a change. */
  connection: number;
}

/**
 * What the database said about who somebody is and what a project's name means, so that not every request asks again.
 * A change makes it stale at once: in this process with the commit (the repositories say so), in every other one by
 * the notice that triggers send with it. Nothing is repeated unless the connection that hears the notices stands, and
 * has stood since the database was asked. Refusals are never kept.
 */
@injectable()
export class AuthorityCache {
  private readonly entries = new Map<string, Entry>();
  /** Grows with every change: what was asked before one is not kept after it. */
  private changes = 0;
  private unlisten: (() => Promise<void>) | undefined;

  constructor(private readonly database: Database) {}

  /** Until then everything is asked for anew. */
  async start(): Promise<void> {
    this.unlisten = await this.database.listen(authorityChannel, (id) => this.forget(id));
  }

  async stop(): Promise<void> {
    const { unlisten } = this;
    this.unlisten = undefined;
    this.forget(null);
    await unlisten?.().catch(() => undefined);
  }

  /**
   * What is known under the key, or what `ask` finds out. `key`: of secrets a hash.
   * @param ask null: there is nothing that holds
   */
  async through<T>(key: string, ask: () => Promise<Known<T> | null>): Promise<T | null> {
    const connection = this.unlisten ? this.database.listening : 0;
    const known = this.entries.get(key);
    if (known && connection !== 0 && known.connection === connection && performance.now() < known.until)
      return known.value as T;
    const { changes } = this;
    const asked = performance.now();
    const found = await ask();
    if (!found) {
      this.entries.delete(key);
      return null;
    }
    if (connection !== 0 && changes === this.changes) this.keep(key, found, asked, connection);
    return found.value;
  }

  /** Something about this user, session, API token or project has changed; null: about anything. */
  forget(id: string | null): void {
    this.changes += 1;
    if (id === null) this.entries.clear();
    else for (const [key, { ids }] of this.entries) if (ids.includes(id)) this.entries.delete(key);
  }

  private keep(key: string, { value, ids, seconds }: Known<unknown>, asked: number, connection: number): void {
    this.entries.delete(key);
    if (this.entries.size >= maxEntries) {
      const [oldest] = this.entries.keys();
      if (oldest !== undefined) this.entries.delete(oldest);
    }
    const until = asked + Math.min(maxAgeMs, seconds === null ? maxAgeMs : seconds * 1000);
    this.entries.set(key, { value, ids, until, connection });
  }
}
