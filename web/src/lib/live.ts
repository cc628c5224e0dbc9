import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { Socket } from 'socket.io-client';
import { freshToken } from './session';
import { Store } from './store';
import type { LiveEvent, LiveEventRecord, Page } from './types';

/** `live`: changes arrive by themselves. `polling`: the socket is down and lists are asked again every few seconds. */
export type LiveState = 'connecting' | 'live' | 'polling';
export const liveState = new Store<LiveState>('connecting');

/** REST collections whose answers contain a noun: they are asked again when one changes. */
const affects: Record<string, readonly string[]> = {
  instance: ['instances', 'ports', 'volumes', 'networks', 'hosts'],
  task: ['tasks'],
  image: ['images'],
  network: ['networks', 'ports'],
  port: ['ports', 'networks'],
  volume: ['volumes'],
  host: ['hosts'],
  flavor: ['flavors'],
  'ssh-key': ['ssh-keys'],
  project: ['projects', 'whoami'],
  member: ['projects', 'whoami'],
  user: ['users'],
};
const collectionOf = (kind: string): string => affects[kind]?.[0] ?? `${kind}s`;
/** Bursts (a workflow's steps) become one refetch. */
const settleMs = 250;
/** A loss shorter than this is not worth a word. */
const lossMs = 1500;
/** How long the first connection may take before it is called missing. */
const firstMs = 4000;

type Item = { id: string };

const patch = (client: QueryClient, event: LiveEvent): void => {
  const collection = collectionOf(event.subject.kind);
  const { id } = event.subject;
  if (event.type.endsWith('.deleted')) {
    client.setQueriesData<InfiniteData<Page<Item>>>({ queryKey: [collection, 'list'] }, (old) =>
      old === undefined ? old : { ...old, pages: old.pages.map((page) => ({ ...page, items: page.items.filter((item) => item.id !== id) })) },
    );
    return;
  }
  if (!event.type.endsWith('.updated')) return;
  // A task's event tells its cause without the story around it: that is asked for a moment later, as for all that changed.
  const { error: _cause, ...told } = event.data;
  const data = event.subject.kind === 'task' ? told : event.data;
  const merge = <T extends Item>(old: T): T => ({ ...old, ...data, id: old.id });
  client.setQueriesData<InfiniteData<Page<Item>>>({ queryKey: [collection, 'list'] }, (old) =>
    old === undefined || !old.pages.some((page) => page.items.some((item) => item.id === id))
      ? old
      : { ...old, pages: old.pages.map((page) => ({ ...page, items: page.items.map((item) => (item.id === id ? merge(item) : item)) })) },
  );
  client.setQueryData<Item>([collection, 'one', id], (old) => (old === undefined ? old : merge(old)));
};

/** Applies events to the query cache until stopped. The client library is a chunk of its own, fetched after login. */
export const startLive = (client: QueryClient): (() => void) => {
  let socket: Socket | null = null;
  let stopped = false;
  let retry: number | undefined;
  let flush: number | undefined;
  let down: number | undefined;
  /** The last event that was seen: a new connection goes on after it. */
  let seen: number | undefined;
  const saw = (seq: number): void => {
    seen = Math.max(seen ?? 0, seq);
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

  const connect = async (): Promise<void> => {
    const { io } = await import('socket.io-client');
    if (stopped) return;
    socket = io({
      path: '/api/v1/live',
      auth: (give) => {
        freshToken().then(
          (token) => give({ token, ...(seen !== undefined && { since: seen }) }),
          () => give({}),
        );
      },
      transports: ['websocket', 'polling'],
      reconnectionDelayMax: 10_000,
      timeout: 8000,
    });
    // The server ends a connection whose token has run out: a new one follows at once, and only a lasting loss shows.
    const lost = (afterMs: number): void => {
      down ??= window.setTimeout(() => liveState.set('polling'), lossMs);
      if (socket?.active !== false) return;
      window.clearTimeout(retry);
      retry = window.setTimeout(() => socket?.connect(), afterMs);
    };
    down = window.setTimeout(() => liveState.set('polling'), firstMs);
    socket.on('connect', () => {
      window.clearTimeout(down);
      down = undefined;
      liveState.set('live');
    });
    socket.on('ready', ({ seq }: { seq: number }) => {
      // What was loaded before the first connection may be older than it.
      if (seen === undefined) void client.invalidateQueries();
      saw(seq);
    });
    socket.on('reset', () => void client.invalidateQueries());
    socket.on('disconnect', () => lost(200));
    socket.on('connect_error', () => lost(3000));
    socket.on('event', (event: LiveEventRecord) => {
      saw(event.seq);
      patch(client, event);
      touch(affects[event.subject.kind] ?? [collectionOf(event.subject.kind)]);
    });
  };

  connect().catch(() => liveState.set('polling'));
  return () => {
    stopped = true;
    window.clearTimeout(retry);
    window.clearTimeout(flush);
    window.clearTimeout(down);
    socket?.disconnect();
    liveState.set('connecting');
  };
};
