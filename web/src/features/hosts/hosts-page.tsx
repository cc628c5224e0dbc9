import { Plus, Server } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { useNewDialog } from '../../app/use-new-dialog';
import { bytes } from '../../lib/format';
import { useList } from '../../lib/queries';
import type { Host } from '../../lib/types';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Collection, matches } from '../../ui/collection';
import { Dialog } from '../../ui/dialog';
import { Meter } from '../../ui/meter';
import { Page } from '../../ui/page';
import { StateBadge } from '../../ui/state';
import { NameTd, Cut, Row, Td, Th } from '../../ui/table';
import { Age } from '../../ui/time';
import { AddHost } from './add-host';

export default function HostsPage() {
  const list = useList<Host>('hosts');
  const dialog = useNewDialog(true);
  const [filter, setFilter] = useState('');
  const add = (
    <Button look="primary" icon={Plus} onClick={dialog.show}>
      Add host
    </Button>
  );
  return (
    <Page title="Hosts" description="Machines that run instances. Only a host that is ready gets new ones." actions={add}>
      <Collection
        label="Hosts"
        list={list}
        items={list.items.filter((h) => matches(h.name, filter))}
        filter={filter}
        onFilter={setFilter}
        columns={7}
        empty={{ icon: Server, title: 'No hosts yet', text: 'One command on a Linux machine makes it a host of this cloud.', action: add }}
        head={
          <>
            <Th>Name</Th>
            <Th>State</Th>
            <Th from="sm" className="text-right">
              Instances
            </Th>
            <Th from="md">vCPUs</Th>
            <Th from="md">Memory</Th>
            <Th from="lg">Disk</Th>
            <Th from="sm">Last seen</Th>
          </>
        }
        row={(h) => (
          <Row key={h.id}>
            <NameTd>
              <Link to={`/hosts/${h.id}`} title={h.name} className="block truncate rounded font-medium hover:underline">
                {h.name}
              </Link>
              <Cut text={h.address} className="font-mono text-xs text-dim" />
            </NameTd>
            <Td>
              <span className="flex flex-wrap gap-1.5">
                <StateBadge state={h.state} />
                {h.breaker !== 'closed' && (
                  <Badge tone="warn" title="Calls to this host failed and are held back.">
                    breaker {h.breaker}
                  </Badge>
                )}
              </span>
            </Td>
            <Td from="sm" className="text-right">
              {h.capacity.instances}
            </Td>
            <Td from="md" className="w-36">
              <Meter compact label="used" used={h.capacity.vcpusUsed} total={h.capacity.vcpus} show={String} />
            </Td>
            <Td from="md" className="w-48">
              <Meter compact label="used" used={h.capacity.memoryBytesUsed} total={h.capacity.memoryBytes} show={bytes} />
            </Td>
            <Td from="lg" className="w-48">
              <Meter compact label="used" used={h.capacity.diskBytesUsed} total={h.capacity.diskBytes} show={bytes} />
            </Td>
            <Td from="sm" className="text-dim">
              {h.lastSeenAt === null ? 'never' : <Age at={h.lastSeenAt} suffix=" ago" />}
            </Td>
          </Row>
        )}
      />
      <Dialog open={dialog.open} onClose={dialog.hide} title="Add a host" description="Run one command as root on the new machine. It joins, is tested, and becomes ready by itself." wide>
        <AddHost onClose={dialog.hide} />
      </Dialog>
    </Page>
  );
}
