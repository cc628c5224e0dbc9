import { useTargetProject } from '../../app/shell/project-field';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { useWrite } from '../../lib/queries';
import { useForm } from '../../lib/use-form';
import type { CreateNetwork } from '../../lib/types';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { DialogActions } from '../../ui/dialogs/dialog';
import { Checkbox, TextField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { toast } from '../../ui/feedback/toast';
import { bodyOf, commandOptions, emptyNetwork, problemsOf } from './network-form';

export function NewNetwork({ onClose }: { onClose: () => void }) {
  const target = useTargetProject();
  const create = useWrite((body: CreateNetwork) => api.post('/networks', { body, query: target.query }), {
    touches: ['networks'],
    onDone: (network) => {
      toast.ok(`Network ${network.name} created`);
      onClose();
    },
  });
  const { draft, change, field, submit } = useForm(emptyNetwork, create, problemsOf, bodyOf);
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      {target.field}
      <TextField label="Name" {...field('name')} placeholder="backend" autoFocus />
      <TextField label="Subnet" {...field('subnet')} hint="IPv4 in CIDR form, from /8 to /29." />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label="Gateway" optional {...field('gateway')} placeholder="first address" />
        <TextField label="DNS servers" optional {...field('dns')} placeholder="of the network" />
      </div>
      <Checkbox
        label="Reach the outside"
        hint="A router with source NAT. Without it the network is isolated."
        checked={draft.nat}
        onChange={(e) => change({ nat: e.target.checked })}
      />
      <FormProblem error={create.error} fields={['dns', 'gateway', 'name', 'subnet']} />
      {draft.name !== '' && <CommandLine line={vcctl(['network', 'create', draft.name], commandOptions(draft))} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending}>
          Create network
        </Button>
      </DialogActions>
    </form>
  );
}
