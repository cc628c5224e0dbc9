import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { useList, useWrite } from '../../lib/queries';
import type { CreateSecurityGroupRule, SecurityGroupRule, SecurityGroupWithRules } from '../../lib/types';
import { useForm } from '../../lib/use-form';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { DialogActions } from '../../ui/dialogs/dialog';
import { SelectField, TextField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { bodyOf, commandOptions, emptyRule, problemsOf, withPorts, type RuleDraft } from './rule-form';

const protocols: readonly [string, string][] = [
  ['tcp', 'TCP'],
  ['udp', 'UDP'],
  ['icmp', 'ICMP'],
  ['sctp', 'SCTP'],
  ['', 'any'],
];

interface Props {
  group: SecurityGroupWithRules;
  direction: SecurityGroupRule['direction'];
  onClose: () => void;
}

export function NewRule({ group, direction, onClose }: Props) {
  const groups = useList('/security-groups', { query: { project: group.projectId } });
  const add = useWrite(
    (body: CreateSecurityGroupRule) => api.post('/security-groups/{ref}/rules', { path: { ref: group.id }, body }),
    { touches: ['security-groups'], onDone: onClose },
  );
  const { draft, change, field, submit } = useForm(emptyRule, add, problemsOf, (asked) => bodyOf(asked, direction));
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="Protocol"
          value={draft.protocol}
          onChange={(event) => change({ protocol: event.target.value })}
          autoFocus
        >
          {protocols.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
        {withPorts.includes(draft.protocol) && (
          <TextField label="Ports" optional {...field('ports')} placeholder="all" />
        )}
      </div>
      <SelectField
        label={direction === 'ingress' ? 'From' : 'To'}
        value={draft.remote}
        onChange={(event) => change({ remote: event.target.value as RuleDraft['remote'] })}
      >
        <option value="anybody">anybody</option>
        <option value="cidr">addresses</option>
        <option value="group">members of a group</option>
      </SelectField>
      {draft.remote === 'cidr' && <TextField label="Addresses" {...field('remoteCidr')} placeholder="10.0.0.0/8" />}
      {draft.remote === 'group' && (
        <SelectField
          label="Group"
          value={draft.remoteGroup}
          error={field('remoteGroup').error}
          onChange={(event) => change({ remoteGroup: event.target.value })}
        >
          <option value="">{groups.isPending ? 'Loading…' : 'Choose…'}</option>
          {groups.items.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      )}
      <TextField label="Description" optional {...field('description')} />
      <FormProblem error={add.error} fields={['ports', 'remoteCidr', 'remoteGroup', 'description']} />
      <CommandLine line={vcctl(['security-group', 'rule', 'add', group.name], commandOptions(draft, direction))} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={add.isPending}>
          Add rule
        </Button>
      </DialogActions>
    </form>
  );
}
