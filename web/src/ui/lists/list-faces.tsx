import { RotateCw, SearchX, TriangleAlert, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { clockTime } from '../../lib/format';
import { asApiError } from '../../lib/problem';
import type { List } from '../../lib/queries';
import { reachability } from '../../lib/reachability';
import { useStore } from '../../lib/store';
import { Button } from '../button';
import { Empty } from '../feedback/empty';
import { LoadError } from './list-states';

/** What a list shows that has nothing to list. */
export interface EmptyFace {
  icon: LucideIcon;
  title: string;
  text: ReactNode;
  action?: ReactNode;
}

interface Props<T> {
  list: List<T>;
  empty: EmptyFace;
  /** The server was asked for a part only: that it has nothing to list does not say that there is nothing. */
  narrowed?: boolean;
  onClear?: () => void;
  /** The table; it shows its own loading. */
  children: ReactNode;
}

/**
 * A list's table, or what stands in its place: could not be loaded, nothing there yet, nothing matches. Old rows that
 * could not be loaded anew say so.
 */
export function ListFaces<T>({ list, empty, narrowed = false, onClear, children }: Props<T>) {
  const { up } = useStore(reachability.state);
  if (list.error !== null && list.items.length === 0)
    return <LoadError error={list.error} onRetry={() => void list.refetch()} />;
  if (list.isSuccess && list.items.length === 0 && !list.isPlaceholderData) {
    if (narrowed)
      return (
        <Empty
          icon={SearchX}
          title="Nothing matches the filter"
          {...(onClear === undefined ? {} : { action: <Button onClick={onClear}>Clear the filter</Button> })}
        >
          Part of a name finds it, or the beginning of an id or an address.
        </Empty>
      );
    return (
      <Empty icon={empty.icon} title={empty.title} action={empty.action}>
        {empty.text}
      </Empty>
    );
  }
  return (
    <>
      {up && list.error !== null && !list.isFetchNextPageError && (
        <p
          role="status"
          className="flex flex-wrap items-center gap-2 border-b border-line bg-warn-soft px-4 py-2 text-xs text-warn"
        >
          <TriangleAlert aria-hidden className="size-3.5 shrink-0" />
          <span className="min-w-0 flex-1">
            As of {clockTime(list.dataUpdatedAt)}: {asApiError(list.error).detail}
          </span>
          <Button size="sm" icon={RotateCw} onClick={() => void list.refetch()}>
            Try again
          </Button>
        </p>
      )}
      {children}
      <More list={list} />
    </>
  );
}

/** Below rows of which there are more: they come as one scrolls; what fails says so and can be asked for again. */
export function More<T>({ list }: { list: List<T> }) {
  if (!list.hasNextPage) return null;
  const failed = list.isFetchNextPageError ? asApiError(list.error).detail : null;
  return (
    <div
      role="status"
      className="flex min-h-12 flex-wrap items-center justify-center gap-3 border-t border-line px-4 py-2 text-xs text-dim"
    >
      <span className={failed === null ? '' : 'text-bad'}>
        {failed ??
          (list.isFetchingNextPage ? `${list.items.length} shown, loading more…` : `${list.items.length} shown`)}
      </span>
      {!list.isFetchingNextPage && (
        <Button size="sm" onClick={() => void list.fetchNextPage()}>
          {failed === null ? 'Load more' : 'Try again'}
        </Button>
      )}
    </div>
  );
}
