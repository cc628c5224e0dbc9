import { Plus, Unplug } from 'lucide-react';
import { useState } from 'react';
import { useScope } from '../../app/scope';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { bytes } from '../../lib/format';
import { useList, useWrite } from '../../lib/queries';
import type { Instance, Volume } from '../../lib/types';
import { Button } from '../../ui/button';
import { ConfirmDelete } from '../../ui/dialogs/confirm-delete';
import { Dialog } from '../../ui/dialogs/dialog';
import { StateBadge } from '../../ui/feedback/state';
import { Cut, Head, Row, Table, Td, Th } from '../../ui/lists/table';
import { Card } from '../../ui/page';
import { followTask } from '../tasks/open-task';
import { AttachVolume } from './attach-volume';
import { whyNot } from './instance-rules';

/** Its disks: the root disk, and volumes that come and go also while it runs. */
export function InstanceVolumes({ instance: i }: { instance: Instance }) {
  const { reasonFor } = useScope();
  const [attaching, setAttaching] = useState(false);
  const [leaving, setLeaving] = useState<Volume | null>(null);
  const { items } = useList('/volumes', { query: { instance: i.id } });
  const role = reasonFor(i.projectId);
  const place = (v: Volume): number => v.attachments[0]?.position ?? 0;
  return (
    <Card
      title="Disks"
      action={
        <Button size="sm" icon={Plus} reason={whyNot(i, 'attach-volume', role)} onClick={() => setAttaching(true)}>
          Attach…
        </Button>
      }
    >
      <Table label="Disks">
        <Head>
          <Th>Volume</Th>
          <Th>State</Th>
          <Th className="text-right">Size</Th>
          <Th>
            <span className="sr-only">Actions</span>
          </Th>
        </Head>
        <tbody>
          {[...items]
            .sort((a, b) => place(a) - place(b))
            .map((v) => (
              <Row key={v.id}>
                <Td className="max-w-40">
                  <Cut text={v.role === 'data' ? v.name : `${v.role} disk`} />
                </Td>
                <Td>
                  <StateBadge state={v.state} />
                </Td>
                <Td className="text-right whitespace-nowrap">{bytes(v.bytes)}</Td>
                <Td className="text-right">
                  {v.role === 'data' && (
                    <Button
                      look="ghost"
                      size="icon-sm"
                      icon={Unplug}
                      aria-label={`Detach ${v.name}`}
                      reason={whyNot(i, 'detach-volume', role)}
                      hint="Detach…"
                      onClick={() => setLeaving(v)}
                    />
                  )}
                </Td>
              </Row>
            ))}
        </tbody>
      </Table>
      <Dialog
        open={attaching}
        onClose={() => setAttaching(false)}
        title="Attach a volume"
        description="The guest sees the disk at once while it runs; what is done with it is its own affair."
      >
        <AttachVolume instance={i} onClose={() => setAttaching(false)} />
      </Dialog>
      <DetachVolume instance={i} volume={leaving} onClose={() => setLeaving(null)} />
    </Card>
  );
}

function DetachVolume({
  instance,
  volume,
  onClose,
}: {
  instance: Instance;
  volume: Volume | null;
  onClose: () => void;
}) {
  const detach = useWrite(
    (id: string) => api.delete('/instances/{ref}/volumes/{volume}', { path: { ref: instance.id, volume: id } }),
    {
      touches: ['instances', 'volumes', 'tasks'],
      onDone: ({ taskId }) => {
        followTask(taskId);
        onClose();
      },
    },
  );
  return (
    <ConfirmDelete
      open={volume !== null}
      onClose={onClose}
      noun="volume"
      verb="Detach"
      phrase={volume?.name ?? ''}
      busy={detach.isPending}
      error={detach.error}
      command={vcctl(['instance', 'detach-volume', instance.name, volume?.name ?? ''])}
      onConfirm={() => volume !== null && detach.mutate(volume.id)}
    >
      <p>Unmount it in the guest first. The guest lets the disk go; the volume and what it holds stay.</p>
    </ConfirmDelete>
  );
}
