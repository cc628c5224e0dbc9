import { useState, type FormEvent } from 'react';
import { useTargetProject } from '../../app/project-field';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { fieldErrors } from '../../lib/problem';
import { useWrite } from '../../lib/queries';
import type { CreateNetwork } from '../../lib/types';
import { checkAddress, checkName, checkSubnet } from '../../lib/validate';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { DialogActions } from '../../ui/dialog';
import { Checkbox, TextField } from '../../ui/field';
import { FormProblem } from '../../ui/form-problem';
import { toast } from '../../ui/toast';
import { checkServers, serversOf } from './dns-servers';

export function NewNetwork({ onClose }: { onClose: () => void }) {
  const target = useTargetProject();
  const [name, setName] = useState('');
  const [subnet, setSubnet] = useState('10.10.0.0/24');
  const [gateway, setGateway] = useState('');
  const [dns, setDns] = useState('');
  const [nat, setNat] = useState(true);
  const [tried, setTried] = useState(false);
  const create = useWrite((body: CreateNetwork) => api.post('/networks', { body, query: target.query }), {
    touches: ['networks'],
    onDone: () => {
      toast.ok(`Network ${name} created`);
      onClose();
    },
  });
  const servers = serversOf(dns);
  const problems: Record<string, string | null> = {
    name: checkName(name),
    subnet: checkSubnet(subnet.trim()),
    gateway: gateway.trim() === '' ? null : checkAddress(gateway.trim(), subnet.trim()),
    dns: checkServers(dns),
  };
  const refused = fieldErrors(create.error);
  const show = (field: string): string | null => (tried ? problems[field] : null) ?? refused[field] ?? null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (create.isPending || Object.values(problems).some((p) => p !== null)) return;
    create.mutate({
      name,
      subnet: subnet.trim(),
      nat,
      ...(gateway.trim() === '' ? {} : { gateway: gateway.trim() }),
      ...(servers.length === 0 ? {} : { dns: servers }),
    });
  };
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      {target.field}
      <TextField
        label="Name"
        value={name}
        onChange={(e) => setName(e.target.value)}
        error={show('name')}
        placeholder="backend"
        autoFocus
      />
      <TextField
        label="Subnet"
        value={subnet}
        onChange={(e) => setSubnet(e.target.value)}
        error={show('subnet')}
        hint="IPv4 in CIDR form, from /8 to /29."
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Gateway"
          optional
          value={gateway}
          onChange={(e) => setGateway(e.target.value)}
          error={show('gateway')}
          placeholder="first address"
        />
        <TextField
          label="DNS servers"
          optional
          value={dns}
          onChange={(e) => setDns(e.target.value)}
          error={show('dns')}
          placeholder="of the network"
        />
      </div>
      <Checkbox
        label="Reach the outside"
        hint="A router with source NAT. Without it the network is isolated."
        checked={nat}
        onChange={(e) => setNat(e.target.checked)}
      />
      <FormProblem error={create.error} fields={['dns', 'gateway', 'name', 'subnet']} />
      {name !== '' && (
        <CommandLine
          line={vcctl(['network', 'create', name], {
            subnet: subnet.trim(),
            gateway: gateway.trim(),
            dns: servers,
            'no-nat': !nat,
          })}
        />
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending}>
          Create network
        </Button>
      </DialogActions>
    </form>
  );
}
