import { Network as NetworkIcon, Plus } from 'lucide-react';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { useProjectColumn } from '../../app/shell/project-column';
import { useScope } from '../../app/scope';
import { useNewDialog } from '../../app/use-new-dialog';
import { api } from '../../lib/api';
import { useList } from '../../lib/queries';
import type { Network } from '../../lib/types';
import { Button } from '../../ui/button';
import { DeleteButton } from '../../ui/dialogs/delete-button';
import { Dialog } from '../../ui/dialogs/dialog';
import { actionColumn, ListPage } from '../../ui/lists/list-page';
import { useSearchFilter } from '../../ui/lists/search-filter';
import { Meter } from '../../ui/feedback/meter';
import { Cut } from '../../ui/lists/table';
import { Age } from '../../ui/time';
import { Link } from 'react-router';
import { Ref } from '../../ui/ref';
import { rangesOf } from './address-rules';
import { NewNetwork } from './new-network';

export default function NetworksPage() {
  const search = useSearchFilter();
  const scope = useScope();
  const list = useList('/networks', { query: { ...scope.query, q: search.q } });
  const dialog = useNewDialog(scope.readOnly === null);
  const removal = useRemoval(
    'network',
    (network: Network) => api.delete('/networks/{ref}', { path: { ref: network.id } }),
    { touches: ['networks'] },
  );
  const create = (
    <Button look="primary" icon={Plus} reason={scope.readOnly} onClick={dialog.show}>
      New network
    </Button>
  );
  return (
    <ListPage
      title="Networks"
      description="Private address ranges that instances join."
      actions={create}
      list={list}
      search={search}
      empty={{
        icon: NetworkIcon,
        title: 'No networks yet',
        text: 'An instance needs a network for its address. One is enough to begin with.',
        action: create,
      }}
      columns={[
        {
          head: 'Name',
          name: true,
          cell: (n) => (
            <>
              <Link
                to={`/networks/${n.id}`}
                title={n.name}
                className="block truncate rounded font-medium hover:underline"
              >
                {n.name}
              </Link>
              {n.description !== '' && <Cut text={n.description} className="text-xs text-dim" />}
            </>
          ),
        },
        {
          head: 'Subnets',
          className: 'font-mono text-xs',
          cell: (n) => (n.subnets.length === 0 ? <span className="text-dim">none</span> : rangesOf(n).join(', ')),
        },
        {
          head: 'Router',
          from: 'lg',
          cell: (n) =>
            n.router === null ? (
              <span className="text-dim">isolated</span>
            ) : (
              <Ref to={`/routers/${n.router.id}`}>{n.router.name}</Ref>
            ),
        },
        {
          head: 'Addresses',
          from: 'sm',
          className: 'w-44',
          cell: (n) => <Meter compact label="used" used={n.addresses.used} total={n.addresses.total} show={String} />,
        },
        ...useProjectColumn<Network>(),
        { head: 'Age', from: 'md', className: 'text-dim', cell: (n) => <Age at={n.createdAt} /> },
        actionColumn<Network>((n) => (
          <DeleteButton name={n.name} reason={scope.reasonFor(n.projectId)} onClick={() => removal.ask(n)} />
        )),
      ]}
    >
      <Dialog open={dialog.open} onClose={dialog.hide} title="New network">
        <NewNetwork onClose={dialog.hide} />
      </Dialog>
      <RemovalDialog removal={removal}>A network that instances still use cannot be deleted.</RemovalDialog>
    </ListPage>
  );
}
