import { Gauge, Plus } from 'lucide-react';
import { useState } from 'react';
import { EditDialog } from '../../app/edit-dialog';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { useScope } from '../../app/scope';
import { useNewDialog } from '../../app/use-new-dialog';
import { hardwareFacts } from '../../app/hardware-words';
import { diskLimit, nicLimit } from '../../app/limit-words';
import { vendorDataField } from '../../app/vendor-data-field';
import { api } from '../../lib/api';
import { bytes } from '../../lib/format';
import { useList } from '../../lib/queries';
import type { Flavor } from '../../lib/types';
import { checkName } from '../../lib/validate';
import { Button } from '../../ui/button';
import { DeleteButton } from '../../ui/dialogs/delete-button';
import { Dialog } from '../../ui/dialogs/dialog';
import { EditButton } from '../../ui/dialogs/edit-button';
import { actionColumn, ListPage, type Column } from '../../ui/lists/list-page';
import { RowActions } from '../../ui/lists/row-actions';
import { useSearchFilter } from '../../ui/lists/search-filter';
import { Cut } from '../../ui/lists/table';
import { Age } from '../../ui/time';
import { NewFlavor } from './new-flavor';

const flavorColumns: Column<Flavor>[] = [
  {
    head: 'Name',
    name: true,
    cell: (f) => (
      <>
        <Cut text={f.name} className="font-medium" />
        {f.description !== '' && <Cut text={f.description} className="text-xs text-dim" />}
      </>
    ),
  },
  { head: 'vCPUs', headClassName: 'text-right', className: 'text-right', cell: (f) => f.vcpus },
  {
    head: 'Memory',
    headClassName: 'text-right',
    className: 'text-right whitespace-nowrap',
    cell: (f) => bytes(f.memoryBytes),
  },
  {
    head: 'Disk',
    from: 'sm',
    headClassName: 'text-right',
    className: 'text-right whitespace-nowrap',
    cell: (f) => (f.diskBytes === 0 ? <span className="text-dim">as image</span> : bytes(f.diskBytes)),
  },
  {
    head: 'Limits',
    from: 'md',
    className: 'text-dim',
    cell: ({ limits: { disk, nic } }) =>
      [...(disk === null ? [] : [`disk ${diskLimit(disk)}`]), ...(nic === null ? [] : [`NIC ${nicLimit(nic)}`])].join(
        '; ',
      ),
  },
  {
    head: 'Hardware',
    from: 'md',
    className: 'text-dim',
    cell: ({ hardware }) =>
      hardwareFacts(hardware)
        .map(([what, value]) => (value === 'yes' ? what.toLowerCase() : `${what} ${value}`))
        .join('; '),
  },
  { head: 'Age', from: 'md', className: 'text-dim', cell: (f) => <Age at={f.createdAt} /> },
];

export default function FlavorsPage() {
  const search = useSearchFilter();
  const { admin } = useScope();
  const list = useList('/flavors', { query: { q: search.q } });
  const dialog = useNewDialog(admin);
  const removal = useRemoval('flavor', (flavor: Flavor) => api.delete('/flavors/{ref}', { path: { ref: flavor.id } }), {
    touches: ['flavors'],
  });
  const [edited, setEdited] = useState<Flavor | null>(null);
  const create = (
    <Button look="primary" icon={Plus} onClick={dialog.show}>
      New flavor
    </Button>
  );
  return (
    <ListPage
      title="Flavors"
      description="Sizes that instances can have: processors, memory, disk."
      actions={admin && create}
      list={list}
      search={search}
      empty={{
        icon: Gauge,
        title: 'No flavors yet',
        text: admin ? 'Nobody can create an instance before there is a flavor.' : 'Ask an administrator to create one.',
        action: admin && create,
      }}
      columns={[
        ...flavorColumns,
        actionColumn<Flavor>(
          (f) =>
            admin && (
              <RowActions>
                <EditButton name={f.name} reason={null} onClick={() => setEdited(f)} />
                <DeleteButton name={f.name} reason={null} onClick={() => removal.ask(f)} />
              </RowActions>
            ),
        ),
      ]}
    >
      <Dialog open={dialog.open} onClose={dialog.hide} title="New flavor">
        <NewFlavor onClose={dialog.hide} />
      </Dialog>
      <EditDialog
        noun="flavor"
        path="/flavors/{ref}"
        item={edited}
        onClose={() => setEdited(null)}
        fields={[
          { key: 'name', label: 'Name', value: edited?.name ?? '', check: checkName },
          {
            key: 'description',
            label: 'Description',
            value: edited?.description ?? '',
            optional: true,
            hint: 'Sizes stay: instances were made with them.',
          },
          vendorDataField(edited?.vendorData, 'flavor'),
        ]}
      />
      <RemovalDialog removal={removal}>Instances made with it keep their size.</RemovalDialog>
    </ListPage>
  );
}
