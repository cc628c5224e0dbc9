import { useState, type FormEvent } from 'react';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { taskIdOf, useList, useWrite } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { Dialog, DialogActions } from '../../ui/dialogs/dialog';
import { SelectField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { followTask } from '../tasks/open-task';

interface Props {
  instance: Instance;
  open: boolean;
  onClose: () => void;
}

/** A temporary disk for an instance that is off, to boot from beside its own. */
export function RescueInstance({ instance, open, onClose }: Props) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Rescue ${instance.name}`}
      description="It boots from a temporary disk of an image, with its own disk as the second one; its addresses, keys and metadata stay. Unrescue removes the temporary disk with all that it holds."
    >
      {open && <Form instance={instance} onClose={onClose} />}
    </Dialog>
  );
}

function Form({ instance, onClose }: Omit<Props, 'open'>) {
  const images = useList('/images', { query: { project: instance.projectId, limit: 100 } });
  const [image, setImage] = useState('');
  const ready = images.items.filter((i) => i.state === 'ready');
  const chosen = ready.find((i) => i.id === image);
  const write = useWrite(
    () => api.post('/instances/{ref}/actions/rescue', { path: { ref: instance.id }, body: { image } }),
    {
      touches: ['instances', 'tasks', 'volumes', 'hosts'],
      onDone: (answer) => {
        onClose();
        followTask(taskIdOf(answer));
      },
    },
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!write.isPending && chosen !== undefined) write.mutate(undefined);
  };
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <SelectField
        label="Image"
        autoFocus
        value={image}
        onChange={(event) => setImage(event.target.value)}
        hint="Best another one than its own: two disks of one image have file systems of the same names."
      >
        <option value="">Choose one</option>
        {ready.map((i) => (
          <option key={i.id} value={i.id}>
            {i.name}
          </option>
        ))}
      </SelectField>
      <FormProblem error={write.error} fields={[]} />
      {chosen !== undefined && (
        <CommandLine line={vcctl(['instance', 'rescue', instance.name], { image: chosen.name })} />
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          look="primary"
          busy={write.isPending}
          reason={chosen === undefined ? 'Choose an image first.' : null}
        >
          Rescue
        </Button>
      </DialogActions>
    </form>
  );
}
