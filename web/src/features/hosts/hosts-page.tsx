import { Plus, Server } from 'lucide-react';
import { useNewDialog } from '../../app/use-new-dialog';
import { useList } from '../../lib/queries';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialogs/dialog';
import { ListPage } from '../../ui/lists/list-page';
import { FilterSelect } from '../../ui/lists/filter-bar';
import { useSearchFilter } from '../../ui/lists/search-filter';
import { useStateFilter } from '../../ui/lists/state-filter';
import { AddHost } from './add-host';
import { hostColumns } from './host-columns';
import { HostTokens } from './host-tokens';

const states = [
  ['', 'Any state'],
  ['ready', 'Ready'],
  ['enrolling', 'Enrolling'],
  ['testing', 'Testing'],
  ['degraded', 'Degraded'],
  ['unknown', 'Unknown'],
  ['maintenance', 'Maintenance'],
] as const;

export default function HostsPage() {
  const search = useSearchFilter();
  const { state, setState } = useStateFilter(states);
  const list = useList('/hosts', { query: { q: search.q, ...(state === '' ? {} : { state }) } });
  const dialog = useNewDialog(true);
  const add = (
    <Button look="primary" icon={Plus} onClick={dialog.show}>
      Add host
    </Button>
  );
  return (
    <ListPage
      title="Hosts"
      description="Machines that run instances. Only a host that is ready gets new ones."
      actions={add}
      list={list}
      search={search}
      searched="name, id or address"
      filters={<FilterSelect label="State" value={state} onChange={setState} options={states} />}
      narrowed={state !== ''}
      onClear={() => setState('')}
      empty={{
        icon: Server,
        title: 'No hosts yet',
        text: 'One command on a Linux machine makes it a host of this cloud.',
        action: add,
      }}
      columns={hostColumns}
    >
      <HostTokens />
      <Dialog
        open={dialog.open}
        onClose={dialog.hide}
        title="Add a host"
        description="Run one command as root on the new machine. It joins, is tested, and becomes ready by itself."
        wide
      >
        <AddHost onClose={dialog.hide} />
      </Dialog>
    </ListPage>
  );
}
