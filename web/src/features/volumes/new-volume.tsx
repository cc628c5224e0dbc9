import { useTargetProject } from '../../app/shell/project-field';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { useList, useWrite } from '../../lib/queries';
import { useForm } from '../../lib/use-form';
import type { CreateVolume } from '../../lib/types';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { DialogActions } from '../../ui/dialogs/dialog';
import { SelectField, TextField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { followTask } from '../tasks/open-task';
import { bodyOf, commandOptions, emptyVolume, problemsOf } from './volume-form';

export function NewVolume({ onClose }: { onClose: () => void }) {
  const target = useTargetProject();
  const instances = useList('/instances', { query: { ...target.query, sort: 'name' } });
  const create = useWrite((body: CreateVolume) => api.post('/volumes', { body, query: target.query }), {
    touches: ['volumes', 'tasks'],
    onDone: ({ taskId }) => {
      followTask(taskId);
      onClose();
    },
  });
  const { draft, change, field, submit } = useForm(emptyVolume, create, problemsOf, bodyOf);
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      {target.field}
      <TextField label="Name" {...field('name')} placeholder="data" autoFocus />
      <TextField label="Size" {...field('bytes')} />
      <SelectField
        label="For instance"
        value={draft.instance}
        hint="A volume stays on the host that it is made on: only instances there can have it."
        onChange={(event) => change({ instance: event.target.value })}
      >
        <option value="">{instances.isPending ? 'Loading…' : 'None in particular'}</option>
        {instances.items.map((i) => (
          <option key={i.id} value={i.name}>
            {i.name}
          </option>
        ))}
      </SelectField>
      <FormProblem error={create.error} fields={['name', 'bytes', 'instance']} />
      {draft.name !== '' && <CommandLine line={vcctl(['volume', 'create', draft.name], commandOptions(draft))} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending}>
          Create volume
        </Button>
      </DialogActions>
    </form>
  );
}
