import type { ReactNode } from 'react';
import type { useList } from '../lib/queries';
import { FilterBar } from './filter-bar';
import { ListFaces, type EmptyFace } from './list-faces';
import { Card } from './page';
import { Head, SkeletonRows, Table } from './table';

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
  empty: EmptyFace;
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
      <ListFaces list={list} shown={items.length} empty={empty}>
        <Table label={label}>
          <Head>{head}</Head>
          <tbody aria-busy={list.isPending}>
            {list.isPending && <SkeletonRows columns={columns} />}
            {items.map(row)}
          </tbody>
        </Table>
      </ListFaces>
    </Card>
  );
}

/** Case-blind match of a name against the filter box. */
export const matches = (name: string, filter: string): boolean => name.toLowerCase().includes(filter.trim().toLowerCase());
