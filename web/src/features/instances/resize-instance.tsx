import { useState, type FormEvent } from 'react';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { bytes, plural } from '../../lib/format';
import { taskIdOf, useList, useWrite } from '../../lib/queries';
import type { Flavor, Instance } from '../../lib/types';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { Dialog, DialogActions } from '../../ui/dialogs/dialog';
import { SelectField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { resizeRefusal } from './instance-rules';
import { followTask } from '../tasks/open-task';

interface Props {
  instance: Instance;
  open: boolean;
  onClose: () => void;
}

/** Another flavor for an instance that is stopped, or that may grow while it runs. */
export function ResizeInstance({ instance, open, onClose }: Props) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Resize ${instance.name}`}
      description={`It stays on its host, with its disk and addresses. ${instance.state === 'running' ? 'It goes on running: its guest gets and gives vCPUs and memory at once.' : 'Its next start uses the new size.'}`}
    >
      {open && <Form instance={instance} onClose={onClose} />}
    </Dialog>
  );
}

const sizeOf = (f: Flavor): string =>
  `${f.name} (${plural(f.vcpus, 'vCPU')}, ${bytes(f.memoryBytes)}${f.diskBytes === 0 ? '' : `, disk ${bytes(f.diskBytes)}`})`;

function Form({ instance, onClose }: Omit<Props, 'open'>) {
  const flavors = useList('/flavors', { query: { limit: 100 } });
  const [flavor, setFlavor] = useState('');
  // A disk never shrinks.
  const fitting = flavors.items.filter(
    (f) => f.id !== instance.flavor.id && (f.diskBytes === 0 || f.diskBytes >= instance.flavor.diskBytes),
  );
  const chosen = fitting.find((f) => f.id === flavor);
  const refusal =
    chosen !== undefined && instance.state === 'running' ? resizeRefusal(instance, chosen)?.detail : undefined;
  const write = useWrite(
    () => api.post('/instances/{ref}/actions/resize', { path: { ref: instance.id }, body: { flavor } }),
    {
      touches: ['instances', 'tasks', 'hosts'],
      onDone: (answer) => {
        onClose();
        followTask(taskIdOf(answer));
      },
    },
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!write.isPending && chosen !== undefined && refusal === undefined) write.mutate(undefined);
  };
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <SelectField
        label="Flavor"
        autoFocus
        value={flavor}
        onChange={(event) => setFlavor(event.target.value)}
        hint="Those whose disk is not smaller."
        error={refusal ?? null}
      >
        <option value="">Choose one</option>
        {fitting.map((f) => (
          <option key={f.id} value={f.id}>
            {sizeOf(f)}
          </option>
        ))}
      </SelectField>
      <FormProblem error={write.error} fields={[]} />
      {chosen !== undefined && refusal === undefined && (
        <CommandLine line={vcctl(['instance', 'resize', instance.name], { flavor: chosen.name })} />
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          look="primary"
          busy={write.isPending}
          reason={chosen === undefined ? 'Choose a flavor first.' : (refusal ?? null)}
        >
          Resize
        </Button>
      </DialogActions>
    </form>
  );
}
