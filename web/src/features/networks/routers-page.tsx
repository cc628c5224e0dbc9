import { Plus, Waypoints } from 'lucide-react';
import { Link } from 'react-router';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { useScope } from '../../app/scope';
import { useProjectColumn } from '../../app/shell/project-column';
import { useNewDialog } from '../../app/use-new-dialog';
import { api } from '../../lib/api';
import { useList } from '../../lib/queries';
import type { Router } from '../../lib/types';
import { Button } from '../../ui/button';
import { DeleteButton } from '../../ui/dialogs/delete-button';
import { Dialog } from '../../ui/dialogs/dialog';
import { actionColumn, ListPage } from '../../ui/lists/list-page';
import { useSearchFilter } from '../../ui/lists/search-filter';
import { Cut } from '../../ui/lists/table';
import { Age } from '../../ui/time';
import { NewRouter } from './new-router';

export default function RoutersPage() {
  const search = useSearchFilter();
  const scope = useScope();
  const list = useList('/routers', { query: { ...scope.query, q: search.q } });
  const dialog = useNewDialog(scope.readOnly === null);
  const removal = useRemoval('router', (router: Router) => api.delete('/routers/{ref}', { path: { ref: router.id } }), {
    touches: ['routers'],
  });
  const create = (
    <Button look="primary" icon={Plus} reason={scope.readOnly} onClick={dialog.show}>
      New router
    </Button>
  );
  return (
    <ListPage
      title="Routers"
      description="Ways between subnets, and to the outside."
      actions={create}
      list={list}
      search={search}
      empty={{
        icon: Waypoints,
        title: 'No routers yet',
        text: 'A network that reaches the outside has one. Another joins subnets of several networks.',
        action: create,
      }}
      columns={[
        {
          head: 'Name',
          name: true,
          cell: (r) => (
            <>
              <Link
                to={`/routers/${r.id}`}
                title={r.name}
                className="block truncate rounded font-medium hover:underline"
              >
                {r.name}
              </Link>
              {r.description !== '' && <Cut text={r.description} className="text-xs text-dim" />}
            </>
          ),
        },
        {
          head: 'Subnets',
          className: 'font-mono text-xs',
          cell: (r) => r.subnets.map(({ cidr }) => cidr).join(', ') || <span className="text-dim">none</span>,
        },
        { head: 'Outside', from: 'sm', className: 'text-dim', cell: (r) => (r.snat ? 'by NAT' : 'none') },
        ...useProjectColumn<Router>(),
        { head: 'Age', from: 'md', className: 'text-dim', cell: (r) => <Age at={r.createdAt} /> },
        actionColumn<Router>((r) => (
          <DeleteButton name={r.name} reason={scope.reasonFor(r.projectId)} onClick={() => removal.ask(r)} />
        )),
      ]}
    >
      <Dialog open={dialog.open} onClose={dialog.hide} title="New router">
        <NewRouter onClose={dialog.hide} />
      </Dialog>
      <RemovalDialog removal={removal}>A router that subnets are on cannot be deleted.</RemovalDialog>
    </ListPage>
  );
}
