import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import { Connection, type Attempt, type Failure } from './connection';
import { ApiError } from './problem';
import { reachability } from './reachability';
import { freshToken, refresh, session } from './session';
import { Store } from './store';
import type { LiveEvent, LiveEventRecord, Page } from './types';

/** `live`: changes arrive by themselves. `polling`: the socket is down and lists are asked again every few seconds. */
export type LiveState = 'connecting' | 'live' | 'polling';
export const liveState = new Store<LiveState>('connecting');

/** By noun: the REST collections whose answers contain it, its own first. They are asked again when one changes. */
type Affects = Readonly<Record<string, readonly string[]>>;
/** Bursts (a workflow's steps) become one refetch. */
const settleMs = 250;
/** A loss shorter than this is not worth a word. */
const lossMs = 1500;
/** How long the first connection may take before it is called missing. */
const firstMs = 4000;

type Item = { id: string };

/**
 * A failure that could not be told whole comes as its cause alone: the story around it is asked for a moment later, as for
 * all that changed.
 */
const withoutShortCause = (data: LiveEvent['data']): LiveEvent['data'] => {
  const { error, ...others } = data;
  return typeof error === 'object' && error !== null && !('reason' in error) ? others : data;
};

const patch = (client: QueryClient, event: LiveEvent, collection: string): void => {
  const { id } = event.subject;
  if (event.type.endsWith('.deleted')) {
    client.setQueriesData<InfiniteData<Page<Item>>>({ queryKey: [collection, 'list'] }, (old) =>
      old === undefined
        ? old
        : { ...old, pages: old.pages.map((page) => ({ ...page, items: page.items.filter((item) => item.id !== id) })) },
    );
    return;
  }
  if (!event.type.endsWith('.updated')) return;
  const data = event.subject.kind === 'task' ? withoutShortCause(event.data) : event.data;
  const merge = <T extends Item>(old: T): T => ({ ...old, ...data, id: old.id });
  client.setQueriesData<InfiniteData<Page<Item>>>({ queryKey: [collection, 'list'] }, (old) =>
    old === undefined || !old.pages.some((page) => page.items.some((item) => item.id === id))
      ? old
      : {
          ...old,
          pages: old.pages.map((page) => ({
            ...page,
            items: page.items.map((item) => (item.id === id ? merge(item) : item)),
          })),
        },
  );
  client.setQueryData<Item>([collection, 'one', id], (old) => (old === undefined ? old : merge(old)));
};

/** Everything that shows, but where the events of this console began. */
const loadAnew = (client: QueryClient): void =>
  void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'events' });

/**
 * Says when the user sees more or less than before: told as it happens, or found when a connection begins, since nobody
 * can say so while it is away.
 */
const rightsWatch = (changed: () => void): { begun: (now?: string) => void; changed: () => void } => {
  /** Of the last connection, as the server says it; undefined when it is not known. */
  let last: string | undefined;
  return {
    begun: (now) => {
      if (last !== undefined && now !== last) changed();
      last = now;
    },
    changed: () => {
      last = undefined;
      changed();
    },
  };
};

/**
 * The server took the token for no good one although it should be: a new one is fetched, once for all that ask. Says
 * what that means for the connection.
 */
const renewed = async (): Promise<Failure> => {
  const current = session.get();
  try {
    if (current !== null) await refresh(current);
    return { why: 'The session was renewed.' };
  } catch (cause) {
    const final = cause instanceof ApiError && cause.status === 401;
    return { why: 'The session could not be renewed.', final };
  }
};

/**
 * Applies events to the query cache until stopped: those after `position`, which is from before anything was loaded, so
 * that nothing is missed and nothing need be loaded twice. The client library is a chunk of its own, fetched after
 * login.
 */
export const startLive = (client: QueryClient, position: number, affects: Affects): (() => void) => {
  let flush: number | undefined;
  let down: number | undefined;
  /** The last event that was seen: a new connection goes on after it. */
  let seen = position;
  const rights = rightsWatch(() => loadAnew(client));
  const saw = (seq: number): void => {
    seen = Math.max(seen, seq);
  };
  const dirty = new Set<string>();

  const touch = (collections: readonly string[]): void => {
    collections.forEach((c) => dirty.add(c));
    flush ??= window.setTimeout(() => {
      flush = undefined;
      const keys = [...dirty];
      dirty.clear();
      for (const key of keys) void client.invalidateQueries({ queryKey: [key] });
    }, settleMs);
  };

  const dial = async ({ signal, opened, lost }: Attempt): Promise<void> => {
    const [{ io }, token] = await Promise.all([import('socket.io-client'), freshToken()]);
    if (signal.aborted) return;
    const socket = io({
      path: '/api/v1/live',
      auth: { token, since: seen },
      transports: ['websocket', 'polling'],
      reconnection: false,
      forceNew: true,
    });
    signal.addEventListener('abort', () => socket.disconnect());
    socket.on('ready', ({ seq, rights: now }: { seq: number; rights?: string }) => {
      if (signal.aborted) return;
      saw(seq);
      rights.begun(now);
      opened();
    });
    socket.on('reset', () => {
      // Its numbers may begin anew as well: those of a database that was restored.
      seen = 0;
      loadAnew(client);
    });
    // The user may see more or less than before: what shows may be neither all nor theirs.
    socket.on('rights', rights.changed);
    socket.on('disconnect', () => lost({ why: 'The live connection was closed.' }));
    socket.on('connect_error', (error) => {
      if (error.message !== 'unauthenticated') return lost({ why: error.message });
      void renewed().then(lost);
    });
    socket.on('event', (event: LiveEventRecord) => {
      if (signal.aborted || event.seq <= seen) return;
      saw(event.seq);
      const collections = affects[event.subject.kind] ?? [`${event.subject.kind}s`];
      patch(client, event, collections[0] ?? '');
      touch(collections);
    });
  };

  const connection = new Connection(dial);
  const missing = (afterMs: number): void => {
    down ??= window.setTimeout(() => liveState.set('polling'), afterMs);
  };
  // The server ends a connection whose token has run out: a new one follows at once, and only a lasting loss shows.
  const unwatch = connection.state.subscribe(() => {
    if (connection.state.get().kind !== 'open') return missing(lossMs);
    window.clearTimeout(down);
    down = undefined;
    liveState.set('live');
  });
  // Nothing is asked while the server does not answer; once it does, all that shows is asked again.
  let wasUp = reachability.state.get().up;
  const stopReach = reachability.state.subscribe(() => {
    const { up } = reachability.state.get();
    if (up && !wasUp) loadAnew(client);
    wasUp = up;
  });
  missing(firstMs);
  connection.start();
  return () => {
    unwatch();
    stopReach();
    connection.close();
    window.clearTimeout(flush);
    window.clearTimeout(down);
    liveState.set('connecting');
  };
};
