import { Plus } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { fieldErrors } from '../../lib/problem';
import { useList, useWrite } from '../../lib/queries';
import type { ApiToken } from '../../lib/types';
import { checkName } from '../../lib/validate';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { CopyButton } from '../../ui/copy';
import { Dialog, DialogActions } from '../../ui/dialogs/dialog';
import { SelectField, TextField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { Card } from '../../ui/page';
import { ApiTokenTable } from '../users/api-token-table';

/** Tokens for programs, in the user's own name. */
export function ApiTokens() {
  const list = useList('/api-tokens');
  const [creating, setCreating] = useState(false);
  const removal = useRemoval(
    'API token',
    (token: ApiToken) => api.delete('/api-tokens/{ref}', { path: { ref: token.id } }),
    { touches: ['api-tokens'] },
  );
  return (
    <Card
      title="API tokens"
      action={
        <Button size="sm" icon={Plus} onClick={() => setCreating(true)}>
          New token
        </Button>
      }
    >
      <ApiTokenTable
        list={list}
        empty="No tokens. A token lets vcctl and your programs use the API in your name."
        onDelete={removal.ask}
      />
      <Dialog open={creating} onClose={() => setCreating(false)} title="New API token">
        <NewToken onClose={() => setCreating(false)} />
      </Dialog>
      <RemovalDialog removal={removal}>Programs that use it are locked out at once.</RemovalDialog>
    </Card>
  );
}

const lifetimes = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
  ['', 'Never'],
] as const;

function NewToken({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [days, setDays] = useState('90');
  const [readOnly, setReadOnly] = useState(false);
  const [tried, setTried] = useState(false);
  const create = useWrite(
    (body: { name: string; scopes: string[] | null; expiresInDays: number | null }) =>
      api.post('/api-tokens', { body }),
    { touches: ['api-tokens'] },
  );
  const refused = fieldErrors(create.error);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (create.isPending || checkName(name) !== null) return;
    create.mutate({ name, scopes: readOnly ? ['*:read'] : null, expiresInDays: days === '' ? null : Number(days) });
  };
  if (create.data !== undefined)
    return (
      <div>
        <p className="mb-2 text-sm text-dim">Copy the token now: it is shown only once.</p>
        <div className="flex items-start gap-2 rounded-lg border border-line bg-sunken p-3">
          <code className="min-w-0 flex-1 font-mono text-xs break-all select-all">{create.data.token}</code>
          <CopyButton text={create.data.token} label="Copy the token" />
        </div>
        <DialogActions>
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </DialogActions>
      </div>
    );
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <TextField
        label="Name"
        value={name}
        onChange={(e) => setName(e.target.value)}
        error={(tried ? checkName(name) : null) ?? refused.name}
        placeholder="backup script"
        autoFocus
      />
      <SelectField
        label="Scope"
        value={readOnly ? 'read' : 'all'}
        onChange={(e) => setReadOnly(e.target.value === 'read')}
        error={refused.scopes}
      >
        <option value="all">Everything you may do</option>
        <option value="read">Only read</option>
      </SelectField>
      <SelectField label="Expires" value={days} onChange={(e) => setDays(e.target.value)} error={refused.expiresInDays}>
        {lifetimes.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectField>
      <FormProblem error={create.error} fields={['name', 'scopes', 'expiresInDays']} />
      {name !== '' && (
        <CommandLine
          line={vcctl(['api-token', 'create', name], { scope: readOnly ? '*:read' : '', 'expires-in-days': days })}
        />
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending}>
          Create token
        </Button>
      </DialogActions>
    </form>
  );
}
