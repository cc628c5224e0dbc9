import { SearchX, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import type { useList } from '../lib/queries';
import { Empty } from './empty';
import { FilterBar } from './filter-bar';
import { LoadError } from './list-states';
import { Card } from './page';
import { Head, LoadMore, SkeletonRows, Table } from './table';

interface Props<T> {
  label: string;
  list: ReturnType<typeof useList<T>>;
  /** What is shown of it, after filtering in the browser. */
  items: T[];
  filter: string;
  onFilter: (value: string) => void;
  head: ReactNode;
  row: (item: T) => ReactNode;
  columns: number;
  empty: { icon: LucideIcon; title: string; text: ReactNode; action?: ReactNode };
  children?: ReactNode;
}

/** A collection's table with its filter box, and its loading, failed, empty and "nothing matches" faces. */
export function Collection<T>({ label, list, items, filter, onFilter, head, row, columns, empty, children }: Props<T>) {
  const nothing = list.isSuccess && list.items.length === 0;
  return (
    <Card>
      {!nothing && (
        <FilterBar value={filter} onChange={onFilter} label="Filter by name">
          {children}
        </FilterBar>
      )}
      {list.error !== null && list.items.length === 0 ? (
        <LoadError error={list.error} onRetry={() => void list.refetch()} />
      ) : nothing ? (
        <Empty icon={empty.icon} title={empty.title} action={empty.action}>
          {empty.text}
        </Empty>
      ) : list.isSuccess && items.length === 0 ? (
        <Empty icon={SearchX} title="Nothing matches the filter">
          {list.hasNextPage && 'Only the rows loaded so far are searched.'}
        </Empty>
      ) : (
        <Table label={label}>
          <Head>{head}</Head>
          <tbody aria-busy={list.isPending}>
            {list.isPending && <SkeletonRows columns={columns} />}
            {items.map(row)}
          </tbody>
        </Table>
      )}
      <LoadMore shown={list.items.length} more={list.hasNextPage} busy={list.isFetchingNextPage} onMore={() => void list.fetchNextPage()} />
    </Card>
  );
}

/** Case-blind match of a name against the filter box. */
export const matches = (name: string, filter: string): boolean => name.toLowerCase().includes(filter.trim().toLowerCase());
