import { Lock } from 'lucide-react';
import { Link } from 'react-router';
import { useProjectColumn } from '../../app/shell/project-column';
import { useScope } from '../../app/scope';
import type { Instance } from '../../lib/types';
import { actionColumn, type Column } from '../../ui/lists/list-page';
import { StateBadge } from '../../ui/feedback/state';
import { Cut } from '../../ui/lists/table';
import { Age } from '../../ui/time';
import { InstanceMenu } from './instance-menu';
import { addressesOf } from './instance-rules';

interface Rows {
  shown: readonly Instance[];
  /** By id. */
  selected: ReadonlySet<string>;
  select: (ids: ReadonlySet<string>) => void;
  onEdit: (instance: Instance) => void;
  onDelete: (instance: Instance) => void;
}

const facts: Column<Instance>[] = [
  {
    head: 'Name',
    name: true,
    sort: 'name',
    cell: (i) => (
      <>
        <Link to={`/instances/${i.id}`} title={i.name} className="block truncate rounded font-medium hover:underline">
          {i.lock !== null && <Lock aria-label="Locked" className="mr-1 inline size-3 align-baseline text-dim" />}
          {i.name}
        </Link>
        <span className="block truncate text-xs text-dim @md:hidden">{addressesOf(i)}</span>
      </>
    ),
  },
  { head: 'State', cell: (i) => <StateBadge state={i.state} title={i.stateReason} /> },
  {
    head: 'Address',
    from: 'sm',
    className: 'max-w-40 font-mono text-xs @6xl:max-w-72',
    cell: (i) => <Cut text={addressesOf(i)} />,
  },
  { head: 'Flavor', from: 'md', className: 'max-w-32 @6xl:max-w-56', cell: (i) => <Cut text={i.flavor.name} /> },
  {
    head: 'Image',
    from: 'lg',
    className: 'max-w-32 text-dim @6xl:max-w-64',
    cell: (i) => <Cut text={i.image.name} />,
  },
];

// Only administrators see hosts.
const hostColumn: Column<Instance> = {
  head: 'Host',
  from: 'lg',
  className: 'max-w-32 text-dim @6xl:max-w-64',
  cell: (i) => <Cut text={i.host?.name ?? '–'} />,
};

const age: Column<Instance> = {
  head: 'Age',
  from: 'sm',
  sort: 'createdAt',
  className: 'text-dim',
  cell: (i) => <Age at={i.createdAt} />,
};

/** A box per row, and one for all that are shown. */
const selectColumn = ({ shown, selected, select }: Rows): Column<Instance> => {
  const chosen = shown.filter((i) => selected.has(i.id));
  const toggle = (id: string, on: boolean): void => {
    const next = new Set(selected);
    if (on) next.add(id);
    else next.delete(id);
    select(next);
  };
  const all = (
    <input
      type="checkbox"
      aria-label="Select all shown"
      className="block size-4 accent-accent"
      checked={chosen.length > 0 && chosen.length === shown.length}
      ref={(box) => {
        if (box !== null) box.indeterminate = chosen.length > 0 && chosen.length < shown.length;
      }}
      onChange={(event) => select(event.target.checked ? new Set(shown.map((i) => i.id)) : new Set())}
    />
  );
  return {
    head: all,
    headClassName: 'w-10 pr-0',
    className: 'w-10 pr-0',
    cell: (i) => (
      <input
        type="checkbox"
        aria-label={`Select ${i.name}`}
        className="block size-4 accent-accent"
        checked={selected.has(i.id)}
        onChange={(event) => toggle(i.id, event.target.checked)}
      />
    ),
  };
};

export const useInstanceColumns = (rows: Rows): Column<Instance>[] => {
  const { admin } = useScope();
  return [
    selectColumn(rows),
    ...facts,
    ...(admin ? [hostColumn] : []),
    ...useProjectColumn<Instance>(),
    age,
    actionColumn<Instance>((i) => (
      <InstanceMenu instance={i} onEdit={() => rows.onEdit(i)} onDelete={() => rows.onDelete(i)} />
    )),
  ];
};
