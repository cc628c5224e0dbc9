import { Pencil, Plus } from 'lucide-react';
import { useState } from 'react';
import { EditDialog } from '../../app/edit-dialog';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { api } from '../../lib/api';
import type { Network } from '../../lib/types';
import { checkName } from '../../lib/validate';
import { Button } from '../../ui/button';
import { DeleteButton } from '../../ui/dialogs/delete-button';
import { Dialog } from '../../ui/dialogs/dialog';
import { Head, NameTd, Row, Table, Td, Th } from '../../ui/lists/table';
import { Card } from '../../ui/page';
import { checkServers, serversOf } from './dns-servers';
import { NewSubnet } from './new-subnet';

type OwnSubnet = Network['subnets'][number];

/** The address ranges of a network. `reason`: why they cannot be changed; null when they can. */
export function Subnets({ network, reason }: { network: Network; reason: string | null }) {
  const [adding, setAdding] = useState(false);
  const [editing, setEditing] = useState<OwnSubnet | null>(null);
  const removal = useRemoval(
    'subnet',
    (subnet: OwnSubnet) => api.delete('/subnets/{ref}', { path: { ref: subnet.id } }),
    { touches: ['networks', 'subnets', 'routers'] },
  );
  return (
    <Card
      title="Subnets"
      action={
        <Button size="sm" icon={Plus} reason={reason} onClick={() => setAdding(true)}>
          Add subnet
        </Button>
      }
    >
      {network.subnets.length === 0 ? (
        <p className="p-4 text-sm text-dim">None yet: instances get their addresses from subnets.</p>
      ) : (
        <Table label="Subnets">
          <Head>
            <Th className="w-full">Name</Th>
            <Th>Addresses</Th>
            <Th from="sm">Gateway</Th>
            <Th from="md">DNS</Th>
            <Th from="sm">Used</Th>
            <Th>
              <span className="sr-only">Actions</span>
            </Th>
          </Head>
          <tbody>
            {network.subnets.map((s) => (
              <SubnetRow
                key={s.id}
                subnet={s}
                reason={reason}
                onEdit={() => setEditing(s)}
                onDelete={() => removal.ask(s)}
              />
            ))}
          </tbody>
        </Table>
      )}
      <Dialog open={adding} onClose={() => setAdding(false)} title="Add subnet">
        <NewSubnet network={network} onClose={() => setAdding(false)} />
      </Dialog>
      <EditDialog
        noun="subnet"
        path="/subnets/{ref}"
        item={editing}
        onClose={() => setEditing(null)}
        fields={[
          { key: 'name', label: 'Name', value: editing?.name ?? '', check: checkName },
          {
            key: 'dns',
            label: 'DNS servers',
            value: editing?.dns.join(' ') ?? '',
            optional: true,
            hint: 'At most 3, with spaces between. Guests learn them when they renew their lease.',
            check: checkServers,
            parse: serversOf,
          },
        ]}
      />
      <RemovalDialog removal={removal}>A subnet of which an instance has an address cannot be deleted.</RemovalDialog>
    </Card>
  );
}

interface RowProps {
  subnet: OwnSubnet;
  reason: string | null;
  onEdit: () => void;
  onDelete: () => void;
}

function SubnetRow({ subnet: s, reason, onEdit, onDelete }: RowProps) {
  return (
    <Row>
      <NameTd>{s.name}</NameTd>
      <Td className="font-mono text-xs">{s.cidr}</Td>
      <Td from="sm" className="font-mono text-xs text-dim">
        {s.gateway}
      </Td>
      <Td from="md" className="font-mono text-xs text-dim">
        {s.dns.join(', ') || "the host's"}
      </Td>
      <Td from="sm" className="nums text-dim">
        {s.addresses.used} of {s.addresses.total}
      </Td>
      <Td>
        <span className="flex gap-1">
          <Button
            icon={Pencil}
            look="ghost"
            size="icon-sm"
            reason={reason}
            aria-label={`Edit ${s.name}`}
            hint="Edit"
            onClick={onEdit}
          />
          <DeleteButton name={s.name} reason={reason} onClick={onDelete} />
        </span>
      </Td>
    </Row>
  );
}
