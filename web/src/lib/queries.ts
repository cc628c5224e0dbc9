import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type InfiniteData,
  type UseMutationResult,
} from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api, type Query } from './api';
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

/** Keyset-paged list of a collection, kept live. */
export const useList = <T>(collection: string, query: Query = {}, enabled = true) => {
  const refetchInterval = useInterval();
  const result = useInfiniteQuery({
    queryKey: [collection, 'list', query],
    queryFn: ({ pageParam, signal }) =>
      api.get<Page<T>>(
        `/${collection}`,
        { limit: pageParam === undefined ? firstPage : nextPage, ...query, cursor: pageParam },
        signal,
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval,
    enabled,
  });
  return { ...result, items: result.data?.pages.flatMap((page) => page.items) ?? [] };
};

/**
 * One object, kept live. `enabled` false waits; `everyMs` asks more often than the default; `listed`: lists have it
 * whole.
 */
export const useOne = <T>(
  collection: string,
  id: string,
  { enabled = true, everyMs, listed = false }: { enabled?: boolean; everyMs?: number; listed?: boolean } = {},
) => {
  const interval = useInterval();
  const refetchInterval = interval === false ? false : (everyMs ?? interval);
  const client = useQueryClient();
  const result = useQuery({
    queryKey: [collection, 'one', id],
    queryFn: ({ signal }) => api.get<T>(`/${collection}/${encodeURIComponent(id)}`, undefined, signal),
    refetchInterval,
    enabled: enabled && id !== '',
  });
  if (result.data !== undefined || !listed || result.error !== null) return { ...result, data: result.data };
  // What a list already knows shows at once.
  const pages = client
    .getQueriesData<InfiniteData<Page<T & { id: string }>>>({ queryKey: [collection, 'list'] })
    .flatMap(([, data]) => data?.pages ?? []);
  return { ...result, data: pages.flatMap((page) => page.items).find((item) => item.id === id) };
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
