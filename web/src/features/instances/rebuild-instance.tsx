import { useState } from 'react';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { taskIdOf, useList, useWrite } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { ConfirmDelete } from '../../ui/dialogs/confirm-delete';
import { SelectField } from '../../ui/forms/field';
import { followTask } from '../tasks/open-task';

interface Props {
  instance: Instance;
  open: boolean;
  onClose: () => void;
}

/** A new root disk for a stopped instance, once its name is typed. */
export function RebuildInstance({ instance, open, onClose }: Props) {
  const [image, setImage] = useState('');
  const write = useWrite(
    () =>
      api.post('/instances/{ref}/actions/rebuild', { path: { ref: instance.id }, body: image === '' ? {} : { image } }),
    {
      touches: ['instances', 'tasks', 'volumes'],
      onDone: (answer) => {
        onClose();
        followTask(taskIdOf(answer));
      },
    },
  );
  return (
    <ConfirmDelete
      open={open}
      onClose={onClose}
      noun={instance.name}
      phrase={instance.name}
      verb="Rebuild"
      busy={write.isPending}
      error={write.error}
      command={vcctl(['instance', 'rebuild', instance.name], { image })}
      onConfirm={() => write.mutate(undefined)}
    >
      <p>
        It gets a new root disk. Its name, addresses, keys, metadata and size stay; everything that its old root disk
        holds is lost.
      </p>
      {open && <ImageField instance={instance} value={image} onChange={setImage} />}
    </ConfirmDelete>
  );
}

function ImageField({
  instance,
  value,
  onChange,
}: {
  instance: Instance;
  value: string;
  onChange: (image: string) => void;
}) {
  const images = useList('/images', { query: { project: instance.projectId, limit: 100 } });
  return (
    <SelectField
      label="Image"
      className="mt-4 text-ink"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{instance.image.name}, as now</option>
      {images.items
        .filter((i) => i.id !== instance.image.id && i.state === 'ready')
        .map((i) => (
          <option key={i.id} value={i.id}>
            {i.name}
          </option>
        ))}
    </SelectField>
  );
}
