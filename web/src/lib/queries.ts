import type { AnswerOf, ItemOf, ListInit, ListPath, PathOf, PathWith } from '../../../src/rest/rest-call';
import { filledPath, type Query } from '../../../src/rest/rest-target';
import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type InfiniteData,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  type UseMutationResult,
} from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api } from './api';
import { liveState } from './live';
import { asApiError, type ApiError } from './problem';
import { reachability } from './reachability';
import { useStore } from './store';
import type { Page } from './types';

/** While the socket is down. Milliseconds. */
const pollMs = 5000;
/** With a live socket: a slow second look, for what changes without an event (a host's free memory). */
const recheckMs = 60_000;

/** Nothing is asked while the server does not answer: one look, elsewhere, finds out when it does. */
const useInterval = (): number | false => {
  const live = useStore(liveState) === 'live';
  return useStore(reachability.state).up ? (live ? recheckMs : pollMs) : false;
};

/**
 * Rows of the first page, which shows soon, and of each further one: long lists take few requests, also when they are
 * asked again.
 */
const firstPage = 100;
const nextPage = 500;

/** A collection's name in the query cache: its path, with the ids of what it belongs to. */
const collectionOf = (path: string, parameters: unknown): string =>
  filledPath(path, (parameters ?? {}) as Record<string, string>).slice(1);

interface Waiting {
  /** False waits. */
  enabled?: boolean;
}

type AnyInit = { query?: Query; path?: Record<string, string> } & Waiting;

/** Keyset-paged list of a collection, kept live. */
export const useList = <P extends ListPath>(path: P, ...[init]: ListInit<P, Waiting>): List<ItemOf<P>> => {
  const { query = {}, enabled = true, ...parameters } = (init ?? {}) as AnyInit;
  const refetchInterval = useInterval();
  const result = useInfiniteQuery({
    queryKey: [collectionOf(path, parameters.path), 'list', query],
    queryFn: async ({ pageParam, signal }) => {
      const page = { limit: pageParam === undefined ? firstPage : nextPage, ...query, cursor: pageParam };
      // Of one collection or another: which one it is, the caller's types say.
      const answer = await api.get(path as '/instances', { ...parameters, query: page, signal } as never);
      return answer as unknown as Page<ItemOf<P>>;
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval,
    enabled,
  });
  return { ...result, items: result.data?.pages.flatMap((page) => page.items) ?? [] };
};

/** A list as `useList` gives it, of whatever collection. */
export type List<T> = Omit<UseInfiniteQueryResult<InfiniteData<Page<T>>>, 'data'> & { items: T[] };

/** One object as `useOne` gives it. */
type One<T> = Omit<UseQueryResult<T>, 'data'> & { data: T | undefined };

interface Listed {
  id: string;
}

/** A path of one thing, named by one parameter. */
type OnePath = {
  [P in PathWith<'get'>]: PathOf<'get', P> extends { ref: string } | { id: string } ? P : never;
}[PathWith<'get'>];

/**
 * One object, kept live. `enabled` false waits; `everyMs` asks more often than the default; `listed`: lists have it
 * whole.
 */
export const useOne = <P extends OnePath>(
  path: P,
  id: string,
  { enabled = true, everyMs, listed = false }: { enabled?: boolean; everyMs?: number; listed?: boolean } = {},
): One<AnswerOf<'get', P>> => {
  const interval = useInterval();
  const refetchInterval = interval === false ? false : (everyMs ?? interval);
  const client = useQueryClient();
  const parameters = { ref: id, id };
  const [name = '', ...above] = collectionOf(path, parameters).split('/').reverse();
  const collection = above.reverse().join('/');
  const result = useQuery<AnswerOf<'get', P>>({
    queryKey: [collection, 'one', path.endsWith('}') ? id : name],
    queryFn: async ({ signal }) => {
      const answer = await api.get(path as '/instances/{ref}', { path: parameters, signal });
      return answer as unknown as AnswerOf<'get', P>;
    },
    refetchInterval,
    enabled: enabled && id !== '',
  });
  if (result.data !== undefined || !listed || result.error !== null) return { ...result, data: result.data };
  // What a list already knows shows at once.
  const pages = client
    .getQueriesData<InfiniteData<Page<Listed>>>({ queryKey: [collection, 'list'] })
    .flatMap(([, data]) => data?.pages ?? []);
  return {
    ...result,
    data: pages.flatMap((page) => page.items).find((item) => item.id === id) as AnswerOf<'get', P> | undefined,
  };
};

/** A write. `touches` are the collections to ask again afterwards. */
export const useWrite = <T, V = void>(
  write: (input: V) => Promise<T>,
  options: {
    touches: readonly string[];
    onDone?: (result: T, input: V) => void;
    onError?: (error: ApiError, input: V) => void;
  },
): UseMutationResult<T, ApiError, V> => {
  const client = useQueryClient();
  return useMutation<T, ApiError, V>({
    mutationFn: (input) =>
      write(input).catch((error: unknown) => {
        throw asApiError(error);
      }),
    onSuccess: (result, input) => options.onDone?.(result, input),
    onError: (error, input) => options.onError?.(error, input),
    onSettled: () => {
      for (const collection of options.touches) void client.invalidateQueries({ queryKey: [collection] });
    },
  });
};

/** The task that an answer of 202 names, if it names one. */
export const taskIdOf = (answer: unknown): string | null =>
  typeof answer === 'object' && answer !== null && 'taskId' in answer && typeof answer.taskId === 'string'
    ? answer.taskId
    : null;

/** Milliseconds since 1970, renewed every `everyMs`, so that ages grow. */
export const useNow = (everyMs = 10_000): number => {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), everyMs);
    return () => window.clearInterval(timer);
  }, [everyMs]);
  return now;
};

export const useDebounced = <T>(value: T, ms = 200): T => {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), ms);
    return () => window.clearTimeout(timer);
  }, [value, ms]);
  return settled;
};
