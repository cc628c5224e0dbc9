import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { useList, useWrite } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { useForm } from '../../lib/use-form';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { DialogActions } from '../../ui/dialogs/dialog';
import { SelectField, TextField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { checkAddress, rangesOf } from '../networks/address-rules';
import { followTask } from '../tasks/open-task';

const nothing = { network: '', address: '' };

/** On which network of its project, and with which address. */
export function AttachPort({ instance, onClose }: { instance: Instance; onClose: () => void }) {
  const networks = useList('/networks', { query: { project: instance.projectId } });
  const attach = useWrite(
    (body: { network: string; address?: string }) =>
      api.post('/instances/{ref}/ports', { path: { ref: instance.id }, body }),
    {
      touches: ['instances', 'tasks'],
      onDone: ({ taskId }) => {
        followTask(taskId);
        onClose();
      },
    },
  );
  const chosen = (id: string) => networks.items.find((network) => network.id === id);
  const { draft, change, field, submit } = useForm(
    nothing,
    attach,
    ({ network, address }) => ({
      network: network === '' ? 'Choose a network.' : null,
      address: address === '' ? null : checkAddress(address.trim(), ...rangesOf(chosen(network))),
    }),
    ({ network, address }) =>
      network === '' || (address !== '' && checkAddress(address.trim(), ...rangesOf(chosen(network))) !== null)
        ? null
        : { network, ...(address.trim() !== '' && { address: address.trim() }) },
  );
  const name = chosen(draft.network)?.name;
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <SelectField
        label="Network"
        value={draft.network}
        error={field('network').error}
        onChange={(event) => change({ network: event.target.value })}
        autoFocus
      >
        <option value="">{networks.isPending ? 'Loading…' : 'Choose…'}</option>
        {networks.items.map((network) => (
          <option key={network.id} value={network.id}>
            {network.name} ({rangesOf(network).join(', ') || 'no subnet'})
          </option>
        ))}
      </SelectField>
      <TextField label="Address" optional {...field('address')} placeholder="the next free one" />
      <FormProblem error={attach.error} fields={['network', 'address']} />
      {name !== undefined && (
        <CommandLine
          line={vcctl(['instance', 'attach-port', instance.name], {
            network: name,
            ...(draft.address !== '' && { address: draft.address }),
          })}
        />
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
