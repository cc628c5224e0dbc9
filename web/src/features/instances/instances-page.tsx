import { Box, Plus, X } from 'lucide-react';
import { useState } from 'react';
import { lazyPage } from '../../app/lazy-page';
import { useScope } from '../../app/scope';
import { useList } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { Button, ButtonLink } from '../../ui/button';
import { FilterSelect } from '../../ui/lists/filter-bar';
import { ListPage } from '../../ui/lists/list-page';
import { useSearchFilter } from '../../ui/lists/search-filter';
import { useStateFilter } from '../../ui/lists/state-filter';
import { DeleteInstances } from './delete-instances';
import type { EditInstanceProps } from './edit-instance';
import { useInstanceColumns } from './instance-columns';
import { SelectionToolbar } from './selection-toolbar';
import { useTagFilter } from './use-tag-filter';

/** With the rules of what may be filled in, which the first page does without. */
const EditInstance = lazyPage<EditInstanceProps>('instances', 'EditInstance', null);

const states = [
  ['', 'Any state'],
  ['running', 'Running'],
  ['paused', 'Paused'],
  ['suspended', 'Suspended'],
  ['rescued', 'Rescued'],
  ['stopped', 'Stopped'],
  ['building', 'Building'],
  ['starting', 'Starting'],
  ['stopping', 'Stopping'],
  ['rebooting', 'Rebooting'],
  ['pausing', 'Pausing'],
  ['suspending', 'Suspending'],
  ['resuming', 'Resuming'],
  ['resizing', 'Resizing'],
  ['rebuilding', 'Rebuilding'],
  ['rescuing', 'Rescuing'],
  ['unrescuing', 'Unrescuing'],
  ['deleting', 'Deleting'],
  ['unknown', 'Unknown'],
  ['error', 'Error'],
] as const;

/** The server's words for the orders of the list. */
const sorts = ['name', '-name', 'createdAt', '-createdAt'] as const;

function CreateButton({ label, reason }: { label: string; reason: string | null }) {
  return reason === null ? (
    <ButtonLink to="/instances/new" look="primary" icon={Plus}>
      {label}
    </ButtonLink>
  ) : (
    <Button look="primary" icon={Plus} reason={reason}>
      {label}
    </Button>
  );
}

export function InstancesPage() {
  const { query, readOnly, project } = useScope();
  const search = useSearchFilter();
  const { state, setState } = useStateFilter(states);
  const { tag, clearTag } = useTagFilter();
  const [sort, setSort] = useState<(typeof sorts)[number]>('-createdAt');
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [edited, setEdited] = useState<Instance | null>(null);
  const [deleting, setDeleting] = useState<Instance[]>([]);
  const list = useList('/instances', {
    query: { ...query, q: search.q, sort, ...(state === '' ? {} : { state }), ...(tag === '' ? {} : { tag }) },
  });
  const chosen = list.items.filter((i) => selected.has(i.id));
  const columns = useInstanceColumns({
    shown: list.items,
    selected,
    select: setSelected,
    onEdit: setEdited,
    onDelete: (instance) => setDeleting([instance]),
  });

  return (
    <ListPage
      title="Instances"
      description="Virtual machines, as their hosts report them."
      actions={<CreateButton label="New instance" reason={readOnly} />}
      list={list}
      columns={columns}
      search={search}
      searched="name, id or address"
      filters={
        <>
          <FilterSelect label="State" value={state} onChange={setState} options={states} />
          {tag !== '' && (
            <Button size="sm" icon={X} onClick={clearTag}>
              Tag: {tag}
            </Button>
          )}
        </>
      }
      narrowed={state !== '' || tag !== ''}
      onClear={() => {
        setState('');
        clearTag();
      }}
      sorting={{ sort, onSort: (by) => setSort(sorts.find((known) => known === by) ?? '-createdAt') }}
      selected={selected}
      toolbar={
        chosen.length > 0 && (
          <SelectionToolbar
            chosen={chosen}
            onClear={() => setSelected(new Set())}
            onDelete={() => setDeleting(chosen)}
          />
        )
      }
      empty={{
        icon: Box,
        title: project === null ? 'No instances yet' : `No instances in ${project.name}`,
        text: readOnly ?? 'Choose a flavor, an image and a network, and seconds later it runs.',
        action: readOnly === null && <CreateButton label="Create the first instance" reason={null} />,
      }}
    >
      {edited !== null && <EditInstance instance={edited} onClose={() => setEdited(null)} />}
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
