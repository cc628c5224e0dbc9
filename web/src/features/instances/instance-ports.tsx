import { Plus, Unplug } from 'lucide-react';
import { useState } from 'react';
import { useScope } from '../../app/scope';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { useWrite } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { Button } from '../../ui/button';
import { Copyable } from '../../ui/copy';
import { ConfirmDelete } from '../../ui/dialogs/confirm-delete';
import { Dialog } from '../../ui/dialogs/dialog';
import { Head, Row, Table, Td, Th } from '../../ui/lists/table';
import { Card } from '../../ui/page';
import { Ref } from '../../ui/ref';
import { followTask } from '../tasks/open-task';
import { AttachPort } from './attach-port';
import { whyNot } from './instance-rules';

type Port = Instance['ports'][number];

/** Its network cards, which come and go also while it runs. */
export function InstancePorts({ instance: i }: { instance: Instance }) {
  const { reasonFor } = useScope();
  const [attaching, setAttaching] = useState(false);
  const [leaving, setLeaving] = useState<Port | null>(null);
  const role = reasonFor(i.projectId);
  const detachReason = i.ports.length === 1 ? 'It keeps one: attach another first.' : whyNot(i, 'detach-port', role);
  return (
    <Card
      title="Network interfaces"
      action={
        <Button size="sm" icon={Plus} reason={whyNot(i, 'attach-port', role)} onClick={() => setAttaching(true)}>
          Attach…
        </Button>
      }
    >
      <Table label="Network interfaces">
        <Head>
          <Th>Network</Th>
          <Th>Address</Th>
          <Th from="sm">MAC</Th>
          <Th>
            <span className="sr-only">Actions</span>
          </Th>
        </Head>
        <tbody>
          {i.ports.map((p) => (
            <Row key={p.id}>
              <Td className="max-w-40">
                <Ref to={`/networks/${p.networkId}`}>{p.network}</Ref>
              </Td>
              <Td>
                <Copyable text={p.address} label="Copy address" />
              </Td>
              <Td from="sm" className="font-mono text-xs text-dim">
                {p.mac}
              </Td>
              <Td className="text-right">
                <Button
                  look="ghost"
                  size="icon-sm"
                  icon={Unplug}
                  aria-label={`Detach ${p.address}`}
                  reason={detachReason}
                  hint="Detach…"
                  onClick={() => setLeaving(p)}
                />
              </Td>
            </Row>
          ))}
        </tbody>
      </Table>
      {i.ports.length === 0 && <p className="px-4 py-4 text-sm text-dim">No address is allocated yet.</p>}
      <Dialog
        open={attaching}
        onClose={() => setAttaching(false)}
        title="Attach a network interface"
        description="The guest sees the card at once while it runs; that it uses it is its own affair."
      >
        <AttachPort instance={i} onClose={() => setAttaching(false)} />
      </Dialog>
      <DetachPort instance={i} port={leaving} onClose={() => setLeaving(null)} />
    </Card>
  );
}

function DetachPort({ instance, port, onClose }: { instance: Instance; port: Port | null; onClose: () => void }) {
  const detach = useWrite(
    (id: string) => api.delete('/instances/{ref}/ports/{port}', { path: { ref: instance.id, port: id } }),
    {
      touches: ['instances', 'tasks'],
      onDone: ({ taskId }) => {
        followTask(taskId);
        onClose();
      },
    },
  );
  return (
    <ConfirmDelete
      open={port !== null}
      onClose={onClose}
      noun="network interface"
      verb="Detach"
      phrase={port?.address ?? ''}
      busy={detach.isPending}
      error={detach.error}
      command={vcctl(['instance', 'detach-port', instance.name, port?.address ?? ''])}
      onConfirm={() => port !== null && detach.mutate(port.id)}
    >
      <p>The guest lets the card go first; then its address is free for others.</p>
    </ConfirmDelete>
  );
}
