import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Database } from '../../db/database';
import { Problem } from '../../errors/problem';
import { EventDispatcher } from '../../events/event-dispatcher';
import { Logging } from '../../telemetry/logging';
import { Authenticator } from '../authenticator';
import { PeriodicWorks, type PeriodicWork } from '../../periodic/periodic-work';
import { type ChannelEnd, endProblem } from './channel-end';
import type { Credential, Principal } from '../principal';

/**
 * Triggers of the database tell here whose authority has changed, by the user's id, and which project's name means
 * something else, by the project's.
 */
export const authorityChannel = 'vc_stack_authority';

const maxPerKind = 2_000;
const maxPerUser = 50;
/** All channels are judged again this often, whatever was told. */
const recheckMs = 10_000;
/** After a look that failed. */
const retryMs = 1_000;
/** Who could not be verified for so long is not served. */
const unverifiedMs = 15_000;
/** Credentials asked for in one statement. */
const batch = 500;

/** What a channel stands on. */
export interface ChannelClaim {
  /** `console`, `vnc`, `live`, `events`, `upload`, `download`: limits are counted by it. */
  kind: string;
  credential: Credential;
  /** The channel ends with `gone` when this is deleted. */
  subject?: { kind: string; id: string } | undefined;
  /** Whether the principal as it is now may hold the channel. Default: whoever is authenticated. */
  allows?: ((principal: Principal) => boolean) | undefined;
  /** It may last while nobody can say: it changes and shows nothing before the database is back. */
  patient?: boolean | undefined;
}

export interface ChannelHolder {
  /** Cuts the channel, at once. Called once, and not after `close`. */
  end: (code: ChannelEnd) => void;
  /** The principal after each look: its rights may be others than before. */
  rechecked?: (principal: Principal) => void;
}

export interface Channel {
  /** As it was found when the channel was opened. */
  readonly principal: Principal;
  /** The holder has ended it. May be called again. */
  close: () => void;
}

interface Entry {
  claim: ChannelClaim;
  holder: ChannelHolder;
  /** When it was last found to be right. */
  verifiedAt: number;
  principal: Principal | undefined;
  ended: ChannelEnd | undefined;
}

/**
 * The one authority for everything that lasts: consoles, screens, live events, uploads, downloads. It is asked when a channel opens, again
 * as soon as the database tells that something about its user has changed (sessions, tokens, memberships, the user
 * itself), when its subject is deleted, and every ten seconds. Each process judges its own channels; the database tells
 * all of them.
 */
@injectable()
export class Channels extends PeriodicWorks {
  private readonly log: Logger;
  private readonly entries = new Set<Entry>();
  private readonly told = new Set<string>();
  private everyone = false;
  private round: Promise<void> | undefined;
  private retry: NodeJS.Timeout | undefined;
  private unlisten: (() => Promise<void>) | undefined;
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly authenticator: Authenticator,
    private readonly database: Database,
    private readonly dispatcher: EventDispatcher,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('channels');
  }

  /** From here on channels are judged while they are open. */
  async start(): Promise<void> {
    this.unlisten = await this.database.listen(authorityChannel, (userId) => this.wake(userId));
    this.unsubscribe = this.dispatcher.subscribe({
      events: (events) => {
        for (const {
          event: { type, subject },
        } of events)
          if (type === `${subject.kind}.deleted`) this.deleted(subject);
      },
      ended: () => undefined,
    });
  }

  override periodicWork(): PeriodicWork[] {
    const run = async (): Promise<void> => {
      this.wake(null);
      await this.round;
    };
    return [{ name: 'core.judge-channels', everyMs: recheckMs, scope: 'process', deadlineMs: 30_000, run }];
  }

  /** Ends all channels. May be called again. */
  async stop(): Promise<void> {
    clearTimeout(this.retry);
    this.unsubscribe?.();
    const { unlisten } = this;
    this.unlisten = undefined;
    this.endAll('server_stops');
    await unlisten?.().catch(() => undefined);
    await this.round;
  }

  /**
   * Opens a channel for who may hold it. Throws 401, 403 and 404 as a request would, 429 or 503 `too_many_streams`.
   * It is registered before it is judged, so that no change falls in between.
   */
  async open(claim: ChannelClaim, holder: ChannelHolder): Promise<Channel> {
    this.limit(claim);
    const entry: Entry = { claim, holder, verifiedAt: performance.now(), principal: undefined, ended: undefined };
    this.entries.add(entry);
    const close = (): void => void this.entries.delete(entry);
    try {
      const [principal] = await this.authenticator.current([claim.credential]);
      // A look that came in between is the newer one.
      if (!entry.ended && !entry.principal) this.recheck(entry, principal ?? null, true);
    } catch (error) {
      close();
      throw error;
    }
    const { ended, principal } = entry;
    if (ended !== undefined || !principal) throw endProblem(ended ?? 'unauthenticated');
    return { principal, close };
  }

  endAll(code: ChannelEnd): void {
    for (const entry of [...this.entries]) this.end(entry, code);
  }

  private limit({ kind, credential }: ChannelClaim): void {
    let all = 0;
    let own = 0;
    for (const { claim } of this.entries) {
      if (claim.kind !== kind) continue;
      all += 1;
      if (claim.credential.userId === credential.userId) own += 1;
    }
    if (all >= maxPerKind)
      throw new Problem({
        status: 503,
        code: 'too_many_streams',
        detail: 'This server has as many of these as it takes.',
        extra: { retryAfterSeconds: 5 },
      });
    if (own >= maxPerUser)
      throw new Problem({
        status: 429,
        code: 'too_many_streams',
        detail: `At most ${maxPerUser} of these at a time for one user.`,
        extra: { retryAfterSeconds: 5 },
      });
  }

  private deleted(subject: { kind: string; id: string }): void {
    for (const entry of [...this.entries]) {
      const own = entry.claim.subject;
      if (own?.kind === subject.kind && own.id === subject.id) this.end(entry, 'gone');
    }
  }

  /** @param userId null: anything may have changed */
  private wake(userId: string | null): void {
    if (userId === null) this.everyone = true;
    else this.told.add(userId);
    this.round ??= this.rounds().finally(() => (this.round = undefined));
  }

  /** One look at a time, so that an older answer never follows a newer one. */
  private async rounds(): Promise<void> {
    while (this.everyone || this.told.size > 0) {
      const due = [...this.entries].filter(({ claim }) => this.everyone || this.told.has(claim.credential.userId));
      this.everyone = false;
      this.told.clear();
      for (let at = 0; at < due.length; at += batch) {
        if (!(await this.look(due.slice(at, at + batch)))) return;
      }
    }
  }

  /** False when nobody could be asked. */
  private async look(due: readonly Entry[]): Promise<boolean> {
    try {
      const keys = [...new Map(due.map(({ claim: { credential } }) => [keyOf(credential), credential]))];
      const principals = await this.authenticator.current(keys.map(([, credential]) => credential));
      const by = new Map(keys.map(([key], i) => [key, principals[i] ?? null]));
      for (const entry of due) this.recheck(entry, by.get(keyOf(entry.claim.credential)) ?? null, false);
      return true;
    } catch (error) {
      this.log.warn({ err: error, channels: due.length }, 'open channels could not be judged; tried again');
      const since = performance.now() - unverifiedMs;
      for (const entry of [...this.entries])
        if (!entry.claim.patient && entry.verifiedAt < since) this.end(entry, 'unavailable');
      clearTimeout(this.retry);
      this.retry = setTimeout(() => this.wake(null), retryMs);
      this.retry.unref();
      return false;
    }
  }

  private recheck(entry: Entry, principal: Principal | null, opening: boolean): void {
    if (!this.entries.has(entry)) return;
    const refused = !principal
      ? 'unauthenticated'
      : entry.claim.allows?.(principal) === false
        ? 'forbidden'
        : undefined;
    if (refused && opening) entry.ended = refused;
    else if (refused) this.end(entry, refused);
    if (refused || !principal) return;
    entry.verifiedAt = performance.now();
    entry.principal = principal;
    if (!opening) entry.holder.rechecked?.(principal);
  }

  private end(entry: Entry, code: ChannelEnd): void {
    if (!this.entries.delete(entry)) return;
    entry.ended = code;
    this.log.info({ kind: entry.claim.kind, userId: entry.claim.credential.userId, code }, 'a channel was ended');
    try {
      entry.holder.end(code);
    } catch (error) {
      this.log.error({ err: error, kind: entry.claim.kind }, 'a channel could not be ended');
    }
  }
}

const keyOf = ({ via, id, expiresAt }: Credential): string => `${via} ${id} ${expiresAt ?? ''}`;
