import { Network as NetworkIcon, Plus } from 'lucide-react';
import { useState } from 'react';
import { useScope } from '../../app/scope';
import { useNewDialog } from '../../app/use-new-dialog';
import { api } from '../../lib/api';
import { useList, useWrite } from '../../lib/queries';
import type { Network, Port } from '../../lib/types';
import { Button } from '../../ui/button';
import { Collection, matches } from '../../ui/collection';
import { ConfirmDelete } from '../../ui/confirm-delete';
import { DeleteButton } from '../../ui/delete-button';
import { Dialog } from '../../ui/dialog';
import { Meter } from '../../ui/meter';
import { Page } from '../../ui/page';
import { StateBadge } from '../../ui/state';
import { NameTd, Cut, Head, LoadMore, Row, SkeletonRows, Table, Td, Th } from '../../ui/table';
import { Age } from '../../ui/time';
import { toast } from '../../ui/toast';
import { Link } from 'react-router';
import { useInstanceNames } from '../instances/use-instance-names';
import { NewNetwork } from './new-network';

export default function NetworksPage() {
  const scope = useScope();
  const list = useList<Network>('networks', scope.query);
  const dialog = useNewDialog(scope.readOnly === null);
  const [filter, setFilter] = useState('');
  const [doomed, setDoomed] = useState<Network | null>(null);
  const [shown, setShown] = useState<Network | null>(null);
  const remove = useWrite((network: Network) => api.delete(`/networks/${network.id}`), {
    touches: ['networks'],
    onDone: (_, network) => {
      toast.ok(`Network ${network.name} deleted`);
      setDoomed(null);
    },
  });
  const create = (
    <Button look="primary" icon={Plus} reason={scope.readOnly} onClick={dialog.show}>
      New network
    </Button>
  );
  return (
    <Page title="Networks" description="Private address ranges that instances join." actions={create}>
      <Collection
        label="Networks"
        list={list}
        items={list.items.filter((n) => matches(n.name, filter))}
        filter={filter}
        onFilter={setFilter}
        columns={7}
        empty={{ icon: NetworkIcon, title: 'No networks yet', text: 'An instance needs a network for its address. One is enough to begin with.', action: create }}
        head={
          <>
            <Th>Name</Th>
            <Th>Subnet</Th>
            <Th from="md">Gateway</Th>
            <Th from="lg">Outside</Th>
            <Th from="sm">Addresses</Th>
            <Th from="md">Age</Th>
            <Th className="w-12">
              <span className="sr-only">Actions</span>
            </Th>
          </>
        }
        row={(n) => (
          <Row key={n.id}>
            <NameTd>
              <button type="button" title={n.name} onClick={() => setShown(n)} className="block max-w-full truncate rounded text-left font-medium hover:underline">
                {n.name}
              </button>
              {n.description !== '' && <Cut text={n.description} className="text-xs text-dim" />}
            </NameTd>
            <Td className="font-mono text-xs">{n.subnet}</Td>
            <Td from="md" className="font-mono text-xs text-dim">
              {n.gateway}
            </Td>
            <Td from="lg" className="text-dim">
              {n.nat ? 'by NAT' : 'isolated'}
            </Td>
            <Td from="sm" className="w-44">
              <Meter compact label="used" used={n.addresses.used} total={n.addresses.total} show={String} />
            </Td>
            <Td from="md" className="text-dim">
              <Age at={n.createdAt} />
            </Td>
            <Td className="w-12 py-0 text-right">
              <DeleteButton name={n.name} reason={scope.reasonFor(n.projectId)} onClick={() => setDoomed(n)} />
            </Td>
          </Row>
        )}
      />
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
        {shown !== null && <Ports network={shown} />}
      </Dialog>
      <ConfirmDelete
        open={doomed !== null}
        onClose={() => {
          setDoomed(null);
          remove.reset();
        }}
        noun="network"
        phrase={doomed?.name ?? ''}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => doomed !== null && remove.mutate(doomed)}
      >
        A network that instances still use cannot be deleted.
      </ConfirmDelete>
    </Page>
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
      <LoadMore shown={ports.length} more={list.hasNextPage} busy={list.isFetchingNextPage} onMore={() => void list.fetchNextPage()} />
    </>
  );
}
