import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { bytes } from '../../lib/format';
import { useList, useWrite } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { useForm } from '../../lib/use-form';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { DialogActions } from '../../ui/dialogs/dialog';
import { Checkbox, SelectField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { followTask } from '../tasks/open-task';

const nothing = { volume: '', readonly: false };

/** Which of its project's volumes, of those that nobody has. */
export function AttachVolume({ instance, onClose }: { instance: Instance; onClose: () => void }) {
  const volumes = useList('/volumes', { query: { project: instance.projectId, role: 'data' } });
  const attach = useWrite(
    (body: { volume: string; readonly: boolean }) =>
      api.post('/instances/{ref}/volumes', { path: { ref: instance.id }, body }),
    {
      touches: ['instances', 'volumes', 'tasks'],
      onDone: ({ taskId }) => {
        followTask(taskId);
        onClose();
      },
    },
  );
  const { draft, change, field, submit } = useForm(
    nothing,
    attach,
    ({ volume }) => ({ volume: volume === '' ? 'Choose a volume.' : null }),
    ({ volume, readonly }) => (volume === '' ? null : { volume, readonly }),
  );
  const free = volumes.items.filter(({ state }) => state === 'available');
  const name = free.find(({ id }) => id === draft.volume)?.name;
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <SelectField
        label="Volume"
        value={draft.volume}
        error={field('volume').error}
        hint="It must lie on the host of the instance."
        onChange={(event) => change({ volume: event.target.value })}
        autoFocus
      >
        <option value="">{volumes.isPending ? 'Loading…' : free.length === 0 ? 'None is free' : 'Choose…'}</option>
        {free.map((v) => (
          <option key={v.id} value={v.id}>
            {v.name} ({bytes(v.bytes)})
          </option>
        ))}
      </SelectField>
      <Checkbox
        label="Read-only"
        hint="The guest cannot write to it."
        checked={draft.readonly}
        onChange={(event) => change({ readonly: event.target.checked })}
      />
      <FormProblem error={attach.error} fields={['volume']} />
      {name !== undefined && (
        <CommandLine line={vcctl(['instance', 'attach-volume', instance.name, name], { readonly: draft.readonly })} />
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={attach.isPending}>
          Attach
        </Button>
      </DialogActions>
    </form>
  );
}
