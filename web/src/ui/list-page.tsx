import { useState, type ReactNode } from 'react';
import type { useList } from '../lib/queries';
import { FilterBar } from './filter-bar';
import { ListFaces, type EmptyFace } from './list-faces';
import { Card, Page } from './page';
import { Head, NameTd, Row, SkeletonRows, Table, Td, Th, type From } from './table';

/** One column of a list: its heading and its cell. */
export interface Column<T> {
  head: ReactNode;
  cell: (item: T) => ReactNode;
  /** From which width on it shows. */
  from?: From;
  /** The column that takes what width the others leave. */
  name?: true;
  className?: string;
  headClassName?: string;
}

/** Case-blind match of a name against the filter box. */
const matches = (name: string, filter: string): boolean => name.toLowerCase().includes(filter.trim().toLowerCase());

const optional = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } => (value === undefined ? {} : ({ [key]: value } as { [P in K]?: V }));

/** A column of buttons at the end of a row. */
export const actionColumn = <T,>(cell: (item: T) => ReactNode): Column<T> => ({ head: <span className="sr-only">Actions</span>, headClassName: 'w-12', className: 'w-12 py-0 text-right', cell });

/** The table of a list. */
export function ItemTable<T extends { id: string }>({ label, items, columns, loading, onRow }: { label: string; items: readonly T[]; columns: readonly Column<T>[]; loading: boolean; onRow?: (item: T) => void }) {
  return (
    <Table label={label}>
      <Head>
        {columns.map((column, n) => (
          <Th key={n} {...optional('from', column.from)} {...optional('className', column.headClassName)}>
            {column.head}
          </Th>
        ))}
      </Head>
      <tbody aria-busy={loading}>
        {loading && <SkeletonRows columns={columns.length} />}
        {items.map((item) => (
          <Row key={item.id} {...(onRow === undefined ? {} : { onClick: () => onRow(item) })}>
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
        ))}
      </tbody>
    </Table>
  );
}

interface ListCardProps<T extends { id: string }> {
  label: string;
  list: ReturnType<typeof useList<T>>;
  columns: readonly Column<T>[];
  empty: EmptyFace;
  /** The row above the table. Without one, and with `nameOf`, a box that filters by name in the browser. */
  filters?: ReactNode;
  nameOf?: (item: T) => string;
  /** Something narrows the list: then the filters stay although nothing is found. */
  narrowed?: boolean;
  onRow?: (item: T) => void;
}

/** A list with its filters, and its loading, failed, empty and "nothing matches" faces. */
export function ListCard<T extends { id: string }>({ label, list, columns, empty, filters, nameOf, narrowed = false, onRow }: ListCardProps<T>) {
  const [filter, setFilter] = useState('');
  const nothing = list.isSuccess && list.items.length === 0;
  const items = nameOf === undefined ? list.items : list.items.filter((item) => matches(nameOf(item), filter));
  const bar = filters ?? (nameOf !== undefined && !nothing ? <FilterBar value={filter} onChange={setFilter} label="Filter by name" /> : null);
  return (
    <Card>
      {bar}
      <ListFaces list={list} shown={items.length} empty={empty} narrowed={narrowed}>
        <ItemTable label={label} items={items} columns={columns} loading={list.isPending} {...optional('onRow', onRow)} />
      </ListFaces>
    </Card>
  );
}

/** A page that is one list. Dialogs go into `children`. */
export function ListPage<T extends { id: string }>({ title, description, actions, children, ...card }: Omit<ListCardProps<T>, 'label'> & { title: string; description: string; actions?: ReactNode; children?: ReactNode }) {
  return (
    <Page title={title} description={description} {...optional('actions', actions)}>
      <ListCard label={title} {...card} />
      {children}
    </Page>
  );
}
