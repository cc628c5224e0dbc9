import { HardDrive, Plus } from 'lucide-react';
import { Link } from 'react-router';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { useProjectColumn } from '../../app/shell/project-column';
import { useScope } from '../../app/scope';
import { useNewDialog } from '../../app/use-new-dialog';
import { api } from '../../lib/api';
import { bytes } from '../../lib/format';
import { useList } from '../../lib/queries';
import type { Volume } from '../../lib/types';
import { Button } from '../../ui/button';
import { DeleteButton } from '../../ui/dialogs/delete-button';
import { Dialog } from '../../ui/dialogs/dialog';
import { actionColumn, ListPage, type Column } from '../../ui/lists/list-page';
import { useSearchFilter } from '../../ui/lists/search-filter';
import { StateBadge } from '../../ui/feedback/state';
import { Cut } from '../../ui/lists/table';
import { Age } from '../../ui/time';
import { NewVolume } from './new-volume';
import { useInstanceNames } from '../instances/use-instance-names';

export default function VolumesPage() {
  const search = useSearchFilter();
  const { query, admin, readOnly, reasonFor } = useScope();
  const dialog = useNewDialog(readOnly === null);
  const removal = useRemoval('volume', (v: Volume) => api.delete('/volumes/{ref}', { path: { ref: v.id } }), {
    touches: ['volumes', 'tasks'],
  });
  const create = (
    <Button look="primary" icon={Plus} reason={readOnly} onClick={dialog.show}>
      New volume
    </Button>
  );
  const nameOf = useInstanceNames(query);
  return (
    <ListPage
      title="Volumes"
      description="Disks. A root volume is made with its instance and goes with it; others are attached to instances and stay."
      actions={create}
      list={useList('/volumes', { query: { ...query, q: search.q } })}
      search={search}
      empty={{
        icon: HardDrive,
        title: 'No volumes yet',
        text: 'Every instance gets a root volume, made from its image. Others hold what is to outlive it.',
        action: create,
      }}
      columns={[
        { head: 'Name', name: true, cell: (v) => <Cut text={v.name} className="font-medium" /> },
        { head: 'State', cell: (v) => <StateBadge state={v.state} /> },
        { head: 'Role', from: 'md', className: 'text-dim', cell: (v) => v.role },
        {
          head: 'Size',
          headClassName: 'text-right',
          className: 'text-right whitespace-nowrap',
          cell: (v) => bytes(v.bytes),
        },
        {
          head: 'Instance',
          from: 'sm',
          className: 'max-w-48',
          cell: (v) => <Holder id={v.instanceId} nameOf={nameOf} />,
        },
        { head: 'Pool', from: 'md', className: 'text-dim', cell: (v) => v.pool },
        // Only administrators see hosts.
        ...(admin
          ? [
              {
                head: 'Host',
                from: 'md',
                className: 'max-w-40 text-dim',
                cell: (v) => <Cut text={v.host?.name ?? '–'} />,
              } satisfies Column<Volume>,
            ]
          : []),
        ...useProjectColumn<Volume>(),
        { head: 'Age', from: 'lg', className: 'text-dim', cell: (v) => <Age at={v.createdAt} /> },
        actionColumn<Volume>((v) =>
          v.role !== 'data' ? null : (
            <DeleteButton
              name={v.name}
              reason={whyNotDeleted(v) ?? reasonFor(v.projectId)}
              onClick={() => removal.ask(v)}
            />
          ),
        ),
      ]}
    >
      <Dialog open={dialog.open} onClose={dialog.hide} title="New volume">
        <NewVolume onClose={dialog.hide} />
      </Dialog>
      <RemovalDialog removal={removal}>All that it holds goes with it.</RemovalDialog>
    </ListPage>
  );
}

const whyNotDeleted = ({ attachments, protected: kept }: Volume): string | null =>
  attachments.length > 0 ? 'Detach it first.' : kept ? 'It is protected.' : null;

function Holder({ id, nameOf }: { id: string | null; nameOf: (id: string) => string }) {
  if (id === null) return <span className="text-dim">none</span>;
  return (
    <Link to={`/instances/${id}`} title={nameOf(id)} className="block truncate text-accent-text hover:underline">
      {nameOf(id)}
    </Link>
  );
}
