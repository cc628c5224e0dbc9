import { useCallback, useRef, type ReactNode } from 'react';
import type { List } from '../../lib/queries';
import { FilterBar } from './filter-bar';
import { ListFaces, type EmptyFace } from './list-faces';
import { Card, Page } from '../page';
import type { SearchFilter } from './search-filter';
import { Head, NameTd, Row, SkeletonRows, SortTh, Table, Td, Th, type From } from './table';
import { VirtualRows } from './virtual-rows';

/** One column of a list: its heading and its cell. */
export interface Column<T> {
  head: ReactNode;
  cell: (item: T) => ReactNode;
  /** From which width on it shows. */
  from?: From;
  /** The column that takes what width the others leave. */
  name?: true;
  /** The server's word for sorting by it. */
  sort?: string;
  className?: string;
  headClassName?: string;
}

/** The server's word for the order, and how to change it. */
interface Sorting {
  sort: string;
  onSort: (sort: string) => void;
}

const optional = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } =>
  value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });

/** A column of buttons at the end of a row. */
export const actionColumn = <T,>(cell: (item: T) => ReactNode): Column<T> => ({
  head: <span className="sr-only">Actions</span>,
  headClassName: 'w-12',
  className: 'w-12 py-0 text-right',
  cell,
});

interface TableProps<T extends { id: string }> {
  label: string;
  items: readonly T[];
  columns: readonly Column<T>[];
  loading: boolean;
  onRow?: (item: T) => void;
  sorting?: Sorting;
  selected?: ReadonlySet<string>;
  /** Rows of an older filter, while those of the new one come. */
  stale?: boolean;
  /** Loads more rows; called as the last ones come into sight. */
  onEnd?: () => void;
}

const nothing = (): void => undefined;

/** The table of a list of any length. Its heading stays in sight. */
export function ItemTable<T extends { id: string }>({
  label,
  items,
  columns,
  loading,
  onRow,
  sorting,
  selected,
  stale = false,
  onEnd = nothing,
}: TableProps<T>) {
  return (
    <Table label={label} sticky rows={items.length + 1} {...optional('className', stale ? 'opacity-60' : undefined)}>
      <Head sticky>
        {columns.map((column, n) =>
          sorting !== undefined && column.sort !== undefined ? (
            <SortTh key={n} by={column.sort} {...sorting} {...optional('from', column.from)}>
              {column.head}
            </SortTh>
          ) : (
            <Th key={n} {...optional('from', column.from)} {...optional('className', column.headClassName)}>
              {column.head}
            </Th>
          ),
        )}
      </Head>
      <VirtualRows
        items={items}
        columns={columns.length}
        busy={loading || stale}
        onEnd={onEnd}
        row={(item, place) => (
          <Row
            key={item.id}
            place={place}
            selected={selected?.has(item.id) === true}
            {...(onRow === undefined ? {} : { onClick: () => onRow(item) })}
          >
            {columns.map((column, n) =>
              column.name === true ? (
                <NameTd key={n}>{column.cell(item)}</NameTd>
              ) : (
                <Td key={n} {...optional('from', column.from)} {...optional('className', column.className)}>
                  {column.cell(item)}
                </Td>
              ),
            )}
          </Row>
        )}
      >
        {loading && <SkeletonRows columns={columns.length} />}
      </VirtualRows>
    </Table>
  );
}

interface ListCardProps<T extends { id: string }>
  extends Pick<TableProps<T>, 'columns' | 'onRow' | 'sorting' | 'selected'> {
  label: string;
  list: List<T>;
  empty: EmptyFace;
  /** The filter box above the table, for lists that the server filters by name, id or address. */
  search?: SearchFilter;
  /** Beside the filter box: what narrows further. */
  filters?: ReactNode;
  /** What the filter box looks for. */
  searched?: string;
  /** Something else narrows the list. */
  narrowed?: boolean;
  /** Clears all that narrows. */
  onClear?: () => void;
  /** Below the table, in sight while the table is: what can be done with the selected rows. */
  toolbar?: ReactNode;
}

/** A list with its filters, and its loading, failed, empty and "nothing matches" faces. */
function ListCard<T extends { id: string }>({
  label,
  list,
  columns,
  empty,
  search,
  filters,
  searched = 'name or id',
  narrowed = false,
  onClear,
  toolbar,
  ...table
}: ListCardProps<T>) {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = list;
  const latest = useRef({ hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage });
  latest.current = { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage };
  const more = useCallback(() => {
    const now = latest.current;
    if (now.hasNextPage && !now.isFetchingNextPage && !now.isFetchNextPageError) void now.fetchNextPage();
  }, []);
  const anything = narrowed || (search !== undefined && search.q !== '');
  const bare = list.isSuccess && list.items.length === 0 && !anything && (search?.text ?? '') === '';
  const clear = (): void => {
    search?.setText('');
    onClear?.();
  };
  return (
    <Card>
      {search !== undefined && !bare && (
        <FilterBar value={search.text} onChange={search.setText} label={`Filter by ${searched}`}>
          {filters}
        </FilterBar>
      )}
      <ListFaces list={list} empty={empty} narrowed={anything} onClear={clear}>
        <ItemTable
          label={label}
          items={list.items}
          columns={columns}
          loading={list.isPending}
          stale={list.isPlaceholderData}
          onEnd={more}
          {...table}
        />
      </ListFaces>
      {toolbar}
    </Card>
  );
}

/** A page that is one list. Dialogs go into `children`. */
export function ListPage<T extends { id: string }>({
  title,
  description,
  actions,
  children,
  ...card
}: Omit<ListCardProps<T>, 'label'> & {
  title: string;
  description: string;
  actions?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <Page title={title} description={description} {...optional('actions', actions)}>
      <ListCard label={title} {...card} />
      {children}
    </Page>
  );
}
