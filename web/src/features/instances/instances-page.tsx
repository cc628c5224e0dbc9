import { Box, Play, Plus, RotateCw, Square, Trash2, X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useProjectColumn } from '../../app/project-column';
import { useScope } from '../../app/scope';
import { useList } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { Button, ButtonLink } from '../../ui/button';
import { FilterSelect } from '../../ui/filter-bar';
import { actionColumn, ListPage, type Column } from '../../ui/list-page';
import { useSearchFilter } from '../../ui/search-filter';
import { StateBadge } from '../../ui/state';
import { Cut } from '../../ui/table';
import { Age } from '../../ui/time';
import { DeleteInstances } from './delete-instances';
import { EditInstance } from './edit-instance';
import { InstanceMenu } from './instance-menu';
import { addressesOf } from './instance-rules';
import { useInstanceActions } from './use-instance-actions';

const states = [
  ['', 'Any state'],
  ['running', 'Running'],
  ['stopped', 'Stopped'],
  ['building', 'Building'],
  ['starting', 'Starting'],
  ['stopping', 'Stopping'],
  ['rebooting', 'Rebooting'],
  ['deleting', 'Deleting'],
  ['unknown', 'Unknown'],
  ['error', 'Error'],
] as const;

/** The server's words for the orders of the list. */
const sorts = ['name', '-name', 'createdAt', '-createdAt'] as const;

export function InstancesPage() {
  const { query, readOnly, project, admin } = useScope();
  const search = useSearchFilter();
  const [params, setParams] = useSearchParams();
  const state = states.find(([known]) => known === params.get('state'))?.[0] ?? '';
  const [sort, setSort] = useState<(typeof sorts)[number]>('-createdAt');
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [edited, setEdited] = useState<Instance | null>(null);
  const [deleting, setDeleting] = useState<Instance[]>([]);
  const list = useList('/instances', { query: { ...query, q: search.q, sort, ...(state === '' ? {} : { state }) } });
  const chosen = list.items.filter((i) => selected.has(i.id));
  const setState = (next: string): void =>
    setParams(
      (old) => {
        const address = new URLSearchParams(old);
        if (next === '') address.delete('state');
        else address.set('state', next);
        return address;
      },
      { replace: true },
    );

  const toggle = (id: string, on: boolean): void => {
    const next = new Set(selected);
    if (on) next.add(id);
    else next.delete(id);
    setSelected(next);
  };
  const create = (label: string): ReactNode =>
    readOnly === null ? (
      <ButtonLink to="/instances/new" look="primary" icon={Plus}>
        {label}
      </ButtonLink>
    ) : (
      <Button look="primary" icon={Plus} reason={readOnly}>
        {label}
      </Button>
    );
  const all = (
    <input
      type="checkbox"
      aria-label="Select all shown"
      className="block size-4 accent-accent"
      checked={chosen.length > 0 && chosen.length === list.items.length}
      ref={(box) => {
        if (box !== null) box.indeterminate = chosen.length > 0 && chosen.length < list.items.length;
      }}
      onChange={(event) => setSelected(event.target.checked ? new Set(list.items.map((i) => i.id)) : new Set())}
    />
  );
  const columns: Column<Instance>[] = [
    {
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
    },
    {
      head: 'Name',
      name: true,
      sort: 'name',
      cell: (i) => (
        <>
          <Link to={`/instances/${i.id}`} title={i.name} className="block truncate rounded font-medium hover:underline">
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
    // Only administrators see hosts.
    ...(admin
      ? [
          {
            head: 'Host',
            from: 'lg',
            className: 'max-w-32 text-dim @6xl:max-w-64',
            cell: (i) => <Cut text={i.host?.name ?? '–'} />,
          } satisfies Column<Instance>,
        ]
      : []),
    ...useProjectColumn<Instance>(),
    { head: 'Age', from: 'sm', sort: 'createdAt', className: 'text-dim', cell: (i) => <Age at={i.createdAt} /> },
    actionColumn<Instance>((i) => (
      <InstanceMenu instance={i} onEdit={() => setEdited(i)} onDelete={() => setDeleting([i])} />
    )),
  ];

  return (
    <ListPage
      title="Instances"
      description="Virtual machines, as their hosts report them."
      actions={create('New instance')}
      list={list}
      columns={columns}
      search={search}
      searched="name, id or address"
      filters={<FilterSelect label="State" value={state} onChange={setState} options={states} />}
      narrowed={state !== ''}
      onClear={() => setState('')}
      sorting={{ sort, onSort: (by) => setSort(sorts.find((known) => known === by) ?? '-createdAt') }}
      selected={selected}
      toolbar={
        chosen.length > 0 && (
          <Selection chosen={chosen} onClear={() => setSelected(new Set())} onDelete={() => setDeleting(chosen)} />
        )
      }
      empty={{
        icon: Box,
        title: project === null ? 'No instances yet' : `No instances in ${project.name}`,
        text: readOnly ?? 'Choose a flavor, an image and a network, and seconds later it runs.',
        action: readOnly === null && create('Create the first instance'),
      }}
    >
      <EditInstance instance={edited} onClose={() => setEdited(null)} />
      <DeleteInstances
        instances={deleting}
        onClose={() => setDeleting([])}
        onDone={() => {
          setDeleting([]);
          setSelected(new Set());
        }}
      />
    </ListPage>
  );
}

/** What can be done with the rows that are ticked. A verb works on those it fits. */
function Selection({ chosen, onClear, onDelete }: { chosen: Instance[]; onClear: () => void; onDelete: () => void }) {
  const { run, reason } = useInstanceActions();
  return (
    <div
      role="toolbar"
      aria-label="Actions for the selection"
      className="sticky bottom-0 z-10 flex flex-wrap items-center gap-1.5 rounded-b-xl border-t border-line bg-accent-soft px-4 py-2"
    >
      <span className="nums mr-2 text-sm font-medium">{chosen.length} selected</span>
      <Button size="sm" icon={Play} reason={reason(chosen, 'start')} onClick={() => run(chosen, 'start')}>
        Start
      </Button>
      <Button size="sm" icon={Square} reason={reason(chosen, 'stop')} onClick={() => run(chosen, 'stop')}>
        Stop
      </Button>
      <Button size="sm" icon={RotateCw} reason={reason(chosen, 'reboot')} onClick={() => run(chosen, 'reboot')}>
        Reboot
      </Button>
      <Button size="sm" icon={Trash2} reason={reason(chosen, 'delete')} onClick={onDelete}>
        Delete…
      </Button>
      <Button size="sm" look="ghost" icon={X} onClick={onClear} className="ml-auto">
        Clear
      </Button>
    </div>
  );
}
