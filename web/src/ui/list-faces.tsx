import { SearchX, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import type { useList } from '../lib/queries';
import { Empty } from './empty';
import { LoadError } from './list-states';
import { LoadMore } from './table';

/** What a list shows that has nothing to list. */
export interface EmptyFace {
  icon: LucideIcon;
  title: string;
  text: ReactNode;
  action?: ReactNode;
}

interface Props<T> {
  list: ReturnType<typeof useList<T>>;
  /** Items left after filtering in the browser. */
  shown: number;
  empty: EmptyFace;
  /** The server was asked for a part only: that it has nothing to list does not say that there is nothing. */
  narrowed?: boolean;
  /** The table; it shows its own loading. */
  children: ReactNode;
}

/** A list's table, or what stands in its place: could not be loaded, nothing there yet, nothing matches. And the way to more rows below it. */
export function ListFaces<T>({ list, shown, empty, narrowed = false, children }: Props<T>) {
  const face = (): ReactNode => {
    if (list.error !== null && list.items.length === 0) return <LoadError error={list.error} onRetry={() => void list.refetch()} />;
    if (list.isSuccess && list.items.length === 0 && !narrowed) {
      return (
        <Empty icon={empty.icon} title={empty.title} action={empty.action}>
          {empty.text}
        </Empty>
      );
    }
    if (!list.isSuccess || shown > 0) return children;
    return (
      <Empty icon={SearchX} title="Nothing matches the filter">
        {list.hasNextPage && 'Only the rows loaded so far are searched.'}
      </Empty>
    );
  };
  return (
    <>
      {face()}
      <LoadMore shown={list.items.length} more={list.hasNextPage} busy={list.isFetchingNextPage} onMore={() => void list.fetchNextPage()} />
    </>
  );
}
