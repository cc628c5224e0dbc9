import { Disc3, Plus } from 'lucide-react';
import { useState } from 'react';
import { useScope } from '../../app/scope';
import { useNewDialog } from '../../app/use-new-dialog';
import { api } from '../../lib/api';
import { bytes, percent } from '../../lib/format';
import { taskIdOf, useList, useWrite } from '../../lib/queries';
import { useStore } from '../../lib/store';
import type { Image } from '../../lib/types';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Collection, matches } from '../../ui/collection';
import { ConfirmDelete } from '../../ui/confirm-delete';
import { DeleteButton } from '../../ui/delete-button';
import { Dialog } from '../../ui/dialog';
import { Progress } from '../../ui/meter';
import { Page } from '../../ui/page';
import { StateBadge } from '../../ui/state';
import { NameTd, Cut, Row, Td, Th } from '../../ui/table';
import { Age } from '../../ui/time';
import { toast } from '../../ui/toast';
import { followTask, openTask } from '../tasks/open-task';
import { NewImage } from './new-image';
import { uploads } from './uploads';

export default function ImagesPage() {
  const scope = useScope();
  const list = useList<Image>('images', scope.query);
  const running = useStore(uploads);
  const dialog = useNewDialog(scope.readOnly === null);
  const [filter, setFilter] = useState('');
  const [doomed, setDoomed] = useState<Image | null>(null);
  const remove = useWrite((image: Image) => api.delete<unknown>(`/images/${image.id}`), {
    touches: ['images'],
    onDone: (answer, image) => {
      const task = taskIdOf(answer);
      if (task === null) toast.ok(`Image ${image.name} deleted`);
      else followTask(task);
      setDoomed(null);
    },
  });
  const add = (
    <Button look="primary" icon={Plus} reason={scope.readOnly} onClick={dialog.show}>
      Add image
    </Button>
  );
  return (
    <Page title="Images" description="Disks that instances start from: raw or qcow2, checked and stored as raw." actions={add}>
      <Collection
        label="Images"
        list={list}
        items={list.items.filter((i) => matches(i.name, filter))}
        filter={filter}
        onFilter={setFilter}
        columns={7}
        empty={{ icon: Disc3, title: 'No images yet', text: 'Upload a cloud image from your computer, or give the address of one and the server fetches it.', action: add }}
        head={
          <>
            <Th>Name</Th>
            <Th>State</Th>
            <Th from="sm" className="text-right">
              Disk
            </Th>
            <Th from="md" className="text-right">
              Uploaded
            </Th>
            <Th from="lg">Checksum</Th>
            <Th from="sm">Age</Th>
            <Th className="w-12">
              <span className="sr-only">Actions</span>
            </Th>
          </>
        }
        row={(i) => {
          const upload = running.find((u) => u.imageId === i.id);
          return (
            <Row key={i.id}>
              <NameTd>
                <span className="flex min-w-0 items-center gap-2">
                  <Cut text={i.name} className="font-medium" />
                  {i.public && <Badge tone="idle">public</Badge>}
                </span>
                {i.state === 'error' ? <Cut text={i.message} className="text-xs text-bad" /> : i.description !== '' && <Cut text={i.description} className="text-xs text-dim" />}
              </NameTd>
              <Td>
                {i.taskId !== null ? (
                  <button type="button" onClick={() => i.taskId !== null && openTask(i.taskId)} aria-label={`Task of ${i.name}`} className="rounded-full">
                    <StateBadge state={i.state} />
                  </button>
                ) : (
                  <StateBadge state={i.state} title={i.message} />
                )}
                {upload !== undefined && (
                  <div className="mt-1.5 w-28">
                    <Progress value={percent(upload.sent, upload.total)} label={`Upload of ${i.name}`} />
                    <span className="nums text-xs text-dim">{percent(upload.sent, upload.total)} %</span>
                  </div>
                )}
              </Td>
              <Td from="sm" className="text-right whitespace-nowrap">
                {i.virtualBytes === null ? '–' : bytes(i.virtualBytes)}
              </Td>
              <Td from="md" className="text-right whitespace-nowrap text-dim">
                {i.sourceBytes === null ? '–' : `${bytes(i.sourceBytes)}${i.sourceFormat === null ? '' : ` ${i.sourceFormat}`}`}
              </Td>
              <Td from="lg" className="max-w-36 font-mono text-xs text-dim">
                {i.sha256 === null ? '–' : <Cut text={i.sha256} />}
              </Td>
              <Td from="sm" className="text-dim">
                <Age at={i.createdAt} />
              </Td>
              <Td className="w-12 py-0 text-right">
                <DeleteButton name={i.name} reason={i.state === 'deleting' ? 'It is being deleted.' : scope.reasonFor(i.projectId)} onClick={() => setDoomed(i)} />
              </Td>
            </Row>
          );
        }}
      />
      <Dialog open={dialog.open} onClose={dialog.hide} title="Add image">
        <NewImage onClose={dialog.hide} />
      </Dialog>
      <ConfirmDelete
        open={doomed !== null}
        onClose={() => {
          setDoomed(null);
          remove.reset();
        }}
        noun="image"
        phrase={doomed?.name ?? ''}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => doomed !== null && remove.mutate(doomed)}
      >
        Instances made from it keep their disks.
      </ConfirmDelete>
    </Page>
  );
}
