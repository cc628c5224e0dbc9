import { Network as NetworkIcon, Plus } from 'lucide-react';
import { useState } from 'react';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { useScope } from '../../app/scope';
import { useNewDialog } from '../../app/use-new-dialog';
import { useList } from '../../lib/queries';
import type { Network, Port } from '../../lib/types';
import { Button } from '../../ui/button';
import { DeleteButton } from '../../ui/delete-button';
import { Dialog } from '../../ui/dialog';
import { More } from '../../ui/list-faces';
import { actionColumn, ListPage } from '../../ui/list-page';
import { useSearchFilter } from '../../ui/search-filter';
import { Meter } from '../../ui/meter';
import { StateBadge } from '../../ui/state';
import { Cut, Head, Row, SkeletonRows, Table, Td, Th } from '../../ui/table';
import { Age } from '../../ui/time';
import { Link } from 'react-router';
import { useInstanceNames } from '../instances/use-instance-names';
import { NewNetwork } from './new-network';
import { WayOut } from './way-out';

export default function NetworksPage() {
  const search = useSearchFilter();
  const scope = useScope();
  const list = useList<Network>('networks', { ...scope.query, q: search.q });
  const dialog = useNewDialog(scope.readOnly === null);
  const [shown, setShown] = useState<Network | null>(null);
  const removal = useRemoval<Network>('network', 'networks');
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
      empty={{ icon: NetworkIcon, title: 'No networks yet', text: 'An instance needs a network for its address. One is enough to begin with.', action: create }}
      columns={[
        {
          head: 'Name',
          name: true,
          cell: (n) => (
            <>
              <button type="button" title={n.name} onClick={() => setShown(n)} className="block max-w-full truncate rounded text-left font-medium hover:underline">
                {n.name}
              </button>
              {n.description !== '' && <Cut text={n.description} className="text-xs text-dim" />}
            </>
          ),
        },
        { head: 'Subnet', className: 'font-mono text-xs', cell: (n) => n.subnet },
        { head: 'Gateway', from: 'md', className: 'font-mono text-xs text-dim', cell: (n) => n.gateway },
        { head: 'Outside', from: 'lg', className: 'text-dim', cell: (n) => (n.nat ? 'by NAT' : 'isolated') },
        { head: 'Addresses', from: 'sm', className: 'w-44', cell: (n) => <Meter compact label="used" used={n.addresses.used} total={n.addresses.total} show={String} /> },
        { head: 'Age', from: 'md', className: 'text-dim', cell: (n) => <Age at={n.createdAt} /> },
        actionColumn<Network>((n) => <DeleteButton name={n.name} reason={scope.reasonFor(n.projectId)} onClick={() => removal.ask(n)} />),
      ]}
    >
      <Dialog open={dialog.open} onClose={dialog.hide} title="New network">
        <NewNetwork onClose={dialog.hide} />
      </Dialog>
      <Dialog
        open={shown !== null}
        onClose={() => setShown(null)}
        title={shown?.name ?? ''}
        description={shown === null ? '' : `${shown.subnet} · gateway ${shown.gateway} · MTU ${shown.mtu} · DNS ${shown.dns.length === 0 ? 'of the network' : shown.dns.join(', ')}`}
        wide
      >
        {shown !== null && <WayOut network={shown} />}
        {shown !== null && <Ports network={shown} />}
      </Dialog>
      <RemovalDialog removal={removal}>A network that instances still use cannot be deleted.</RemovalDialog>
    </ListPage>
  );
}

function Ports({ network }: { network: Network }) {
  const list = useList<Port>('ports', { project: network.projectId, network: network.id });
  const ports = list.items;
  const nameOf = useInstanceNames({ project: network.projectId });
  return (
    <>
      <h3 className="mb-1 text-xs font-medium text-dim">Ports</h3>
      {list.isSuccess && ports.length === 0 ? (
        <p className="py-3 text-sm text-dim">No instance has an address in it.</p>
      ) : (
        <Table label="Ports">
          <Head>
            <Th>Address</Th>
            <Th>State</Th>
            <Th from="sm">MAC</Th>
            <Th>Instance</Th>
          </Head>
          <tbody>
            {list.isPending && <SkeletonRows columns={4} rows={2} />}
            {ports.map((p) => (
              <Row key={p.id}>
                <Td className="font-mono text-xs">{p.address}</Td>
                <Td>
                  <StateBadge state={p.state} title={p.message} />
                </Td>
                <Td from="sm" className="font-mono text-xs text-dim">
                  {p.mac}
                </Td>
                <Td>
                  {p.instanceId === null ? (
                    <span className="text-dim">none</span>
                  ) : (
                    <Link to={`/instances/${p.instanceId}`} title={nameOf(p.instanceId)} className="block max-w-52 truncate text-accent-text hover:underline">
                      {nameOf(p.instanceId)}
                    </Link>
                  )}
                </Td>
              </Row>
            ))}
          </tbody>
        </Table>
      )}
      <More list={list} />
    </>
  );
}
