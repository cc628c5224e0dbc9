import type { AnswerOf, BodyOf } from '../../../src/rest/rest-call';
import { ApiError } from './problem';
import { read, send } from './request';
import { Store } from './store';
import type { Tokens } from './types';

/** What a signed-in tab holds. Times are this browser's clock, in milliseconds. */
export interface Session {
  accessToken: string;
  accessFrom: number;
  accessUntil: number;
  refreshToken: string;
  refreshUntil: number;
}

type PeerMessage =
  | { kind: 'ask' }
  | { kind: 'offer'; session: Session }
  | { kind: 'rotated'; used: string; session: Session }
  | { kind: 'ended'; refreshToken: string; reason: string };

const storageKey = 'vcs.session';
/** How long a new tab waits for another tab of this browser to share its session. */
const askMs = 150;

const stored = (): Session | null => {
  try {
    const kept = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as Session | null;
    return kept !== null && kept.refreshUntil > Date.now() ? kept : null;
  } catch {
    return null;
  }
};

export const session = new Store<Session | null>(stored());
/** Why the last session ended, for the login page; empty after a sign-out of one's own. */
export const endedReason = new Store('');

/**
 * A refresh token may be used once, and its reuse ends the whole session. All tabs of one browser therefore share one
 * session: a rotation is told to the others, and only one tab refreshes at a time.
 */
const peers = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('vcs.session');
const tell = (message: PeerMessage): void => peers?.postMessage(message);

let timer: number | undefined;

const keep = (value: Session | null): void => {
  try {
    if (value === null) sessionStorage.removeItem(storageKey);
    else sessionStorage.setItem(storageKey, JSON.stringify(value));
  } catch {
    // Storage is blocked: the session lives as long as the page.
  }
  session.set(value);
  schedule();
};

const fromTokens = (tokens: Tokens): Session => {
  const now = Date.now();
  return {
    accessToken: tokens.accessToken,
    accessFrom: now,
    accessUntil: now + tokens.expiresIn * 1000,
    refreshToken: tokens.refreshToken,
    refreshUntil: now + tokens.refreshExpiresIn * 1000,
  };
};

/** The calls that make and end sessions stand on no session. */
const post = async <P extends '/login' | '/login/refresh' | '/logout'>(
  path: P,
  body: BodyOf<'post', P> | undefined,
  token?: string,
): Promise<AnswerOf<'post', P>> => {
  const sending = { token, idempotencyKey: crypto.randomUUID(), body: body ?? {} };
  return (await read(await send('POST', path, sending))) as AnswerOf<'post', P>;
};

export const login = async (name: string, password: string): Promise<void> => {
  const tokens = await post('/login', { name, password });
  endedReason.set('');
  keep(fromTokens(tokens));
};

/** Ends the session here and in the browser's other tabs; the server is told on a best-effort basis. */
export const logout = async (): Promise<void> => {
  const current = session.get();
  if (current === null) return;
  end(current, '');
  await post('/logout', undefined, current.accessToken).catch(() => undefined);
};

/** Here and in the browser's other tabs that share this session. */
const end = ({ refreshToken }: Session, reason: string): void => {
  endedReason.set(reason);
  keep(null);
  tell({ kind: 'ended', refreshToken, reason });
};

let running: Promise<void> | null = null;

const exclusively = (work: () => Promise<void>): Promise<void> =>
  typeof navigator.locks === 'undefined' ? work() : navigator.locks.request('vcs.refresh', work).then(() => undefined);

const rotate = (stale: Session): Promise<void> =>
  exclusively(async () => {
    // Another tab may have rotated while this one waited for the lock; its message is delivered between two tasks.
    await new Promise((resolve) => window.setTimeout(resolve, 20));
    const current = session.get();
    if (current === null || current.accessToken !== stale.accessToken) return;
    try {
      const next = fromTokens(await post('/login/refresh', { refreshToken: current.refreshToken }));
      tell({ kind: 'rotated', used: current.refreshToken, session: next });
      keep(next);
    } catch (error) {
      if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429) {
        if (session.get()?.refreshToken === current.refreshToken)
          end(current, 'Your session has ended. Sign in again.');
      }
      throw error;
    }
  });

/** Replaces `stale` (the session whose access token was refused or is about to end). One refresh at a time. */
export const refresh = (stale: Session): Promise<void> => {
  running ??= rotate(stale).finally(() => {
    running = null;
  });
  return running;
};

const schedule = (): void => {
  window.clearTimeout(timer);
  const current = session.get();
  if (current === null) return;
  const lifetime = current.accessUntil - current.accessFrom;
  const lead = Math.min(60_000, lifetime / 4);
  // A spread keeps the tabs of one browser from waking in the same moment. After a failed refresh, try again in a few
  // seconds.
  const wait = Math.max(3000, current.accessUntil - lead - Date.now() - Math.random() * 5000);
  timer = window.setTimeout(
    () => {
      const now = session.get();
      if (now === null) return;
      if (now.accessUntil - Date.now() > lead + 6000) return schedule();
      refresh(now).then(undefined, () => schedule());
    },
    Math.min(wait, 2_000_000_000),
  );
};

/** A token that is good for a few more seconds. Throws 401 when nobody is signed in. */
export const freshToken = async (): Promise<string> => {
  const current = session.get();
  if (current === null) throw new ApiError(401, 'unauthenticated', 'You are not signed in.');
  if (current.accessUntil - Date.now() < 5000) await refresh(current);
  const now = session.get();
  if (now === null) throw new ApiError(401, 'unauthenticated', 'You are not signed in.');
  return now.accessToken;
};

/**
 * Before the first page: takes over the session of another tab, so that a link opened in a new tab needs no second
 * login.
 */
export const adoptFromPeers = async (): Promise<void> => {
  if (session.get() !== null || peers === null) return schedule();
  await new Promise<void>((resolve) => {
    const stop = session.subscribe(() => done());
    const done = (): void => {
      stop();
      window.clearTimeout(giveUp);
      resolve();
    };
    const giveUp = window.setTimeout(done, askMs);
    tell({ kind: 'ask' });
  });
};

peers?.addEventListener('message', (event: MessageEvent<PeerMessage>) => {
  const message = event.data;
  const current = session.get();
  if (message.kind === 'ask' && current !== null) tell({ kind: 'offer', session: current });
  else if (message.kind === 'offer' && current === null) keep(message.session);
  else if (message.kind === 'rotated' && current?.refreshToken === message.used) keep(message.session);
  else if (message.kind === 'ended' && current?.refreshToken === message.refreshToken) {
    endedReason.set(message.reason);
    keep(null);
  }
});
