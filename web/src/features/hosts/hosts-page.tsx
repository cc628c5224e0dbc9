import { Plus, Server } from 'lucide-react';
import { Link } from 'react-router';
import { useNewDialog } from '../../app/use-new-dialog';
import { bytes } from '../../lib/format';
import { useList } from '../../lib/queries';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { ListPage } from '../../ui/list-page';
import { useSearchFilter } from '../../ui/search-filter';
import { Meter } from '../../ui/meter';
import { StateBadge } from '../../ui/state';
import { Cut } from '../../ui/table';
import { Age } from '../../ui/time';
import { AddHost } from './add-host';
import { HostTokens } from './host-tokens';

export default function HostsPage() {
  const search = useSearchFilter();
  const list = useList('/hosts', { query: { q: search.q } });
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
      empty={{
        icon: Server,
        title: 'No hosts yet',
        text: 'One command on a Linux machine makes it a host of this cloud.',
        action: add,
      }}
      columns={[
        {
          head: 'Name',
          name: true,
          cell: (h) => (
            <>
              <Link to={`/hosts/${h.id}`} title={h.name} className="block truncate rounded font-medium hover:underline">
                {h.name}
              </Link>
              <Cut text={h.address} className="font-mono text-xs text-dim" />
            </>
          ),
        },
        {
          head: 'State',
          cell: (h) => (
            <span className="flex flex-wrap gap-1.5">
              <StateBadge state={h.state} />
              {h.breaker !== 'closed' && (
                <Badge tone="warn" title="Calls to this host failed and are held back.">
                  breaker {h.breaker}
                </Badge>
              )}
            </span>
          ),
        },
        {
          head: 'Instances',
          from: 'sm',
          headClassName: 'text-right',
          className: 'text-right',
          cell: (h) => h.capacity.instances,
        },
        {
          head: 'vCPUs',
          from: 'md',
          className: 'w-36',
          cell: (h) => (
            <Meter compact label="used" used={h.capacity.vcpusUsed} total={h.capacity.vcpus} show={String} />
          ),
        },
        {
          head: 'Memory',
          from: 'md',
          className: 'w-48',
          cell: (h) => (
            <Meter compact label="used" used={h.capacity.memoryBytesUsed} total={h.capacity.memoryBytes} show={bytes} />
          ),
        },
        {
          head: 'Disk',
          from: 'lg',
          className: 'w-48',
          cell: (h) => (
            <Meter compact label="used" used={h.capacity.diskBytesUsed} total={h.capacity.diskBytes} show={bytes} />
          ),
        },
        {
          head: 'Last seen',
          from: 'sm',
          className: 'text-dim',
          cell: (h) => (h.lastSeenAt === null ? 'never' : <Age at={h.lastSeenAt} suffix=" ago" />),
        },
      ]}
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
