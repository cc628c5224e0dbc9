import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { useWrite } from '../../lib/queries';
import type { CreateSubnet, Network } from '../../lib/types';
import { useForm } from '../../lib/use-form';
import { checkName } from '../../lib/validate';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { DialogActions } from '../../ui/dialogs/dialog';
import { toast } from '../../ui/feedback/toast';
import { TextField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { checkAddress, checkSubnet } from './address-rules';
import { checkServers, serversOf } from './dns-servers';

const empty = { name: '', cidr: '', gateway: '', dns: '' };

export function NewSubnet({ network, onClose }: { network: Network; onClose: () => void }) {
  const create = useWrite(
    (body: CreateSubnet) => api.post('/subnets', { body, query: { project: network.projectId } }),
    {
      touches: ['networks', 'subnets'],
      onDone: (subnet) => {
        toast.ok(`Subnet ${subnet.name} added`);
        onClose();
      },
    },
  );
  const problemsOf = ({ name, cidr, gateway, dns }: typeof empty): Record<string, string | null> => ({
    name: checkName(name),
    cidr: checkSubnet(cidr.trim()),
    gateway: gateway.trim() === '' ? null : checkAddress(gateway.trim(), cidr.trim()),
    dns: checkServers(dns),
  });
  const bodyOf = (draft: typeof empty): CreateSubnet | null =>
    Object.values(problemsOf(draft)).some((problem) => problem !== null)
      ? null
      : {
          network: network.id,
          name: draft.name,
          cidr: draft.cidr.trim(),
          ...(draft.gateway.trim() !== '' && { gateway: draft.gateway.trim() }),
          dns: serversOf(draft.dns),
        };
  const { draft, field, submit } = useForm(empty, create, problemsOf, bodyOf);
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <TextField label="Name" {...field('name')} placeholder="backend-2" autoFocus />
      <TextField
        label="Addresses"
        {...field('cidr')}
        hint="IPv4 in CIDR form, from /8 to /29."
        placeholder="10.10.1.0/24"
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label="Gateway" optional {...field('gateway')} placeholder="first address" />
        <TextField label="DNS servers" optional {...field('dns')} placeholder="the host's" />
      </div>
      <FormProblem error={create.error} fields={['name', 'cidr', 'gateway', 'dns']} />
      {draft.name !== '' && (
        <CommandLine
          line={vcctl(['subnet', 'create', draft.name], {
            network: network.name,
            cidr: draft.cidr.trim(),
            gateway: draft.gateway.trim(),
            dns: serversOf(draft.dns),
          })}
        />
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending}>
          Add subnet
        </Button>
      </DialogActions>
    </form>
  );
}
