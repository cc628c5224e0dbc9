import { useState, type FormEvent } from 'react';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { fieldErrors } from '../../lib/problem';
import { useWrite } from '../../lib/queries';
import type { User } from '../../lib/types';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { DialogActions } from '../../ui/dialogs/dialog';
import { Checkbox, TextField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { toast } from '../../ui/feedback/toast';
import { checkPassword } from './user-rules';

/** What an administrator may change of a user: the rights, and a password that was forgotten. */
export function EditUser({ user, self, onClose }: { user: User; self: boolean; onClose: () => void }) {
  const [admin, setAdmin] = useState(user.admin);
  const [password, setPassword] = useState('');
  const [tried, setTried] = useState(false);
  const write = useWrite(
    (body: { admin?: boolean; password?: string }) => api.patch('/users/{ref}', { path: { ref: user.id }, body }),
    {
      touches: ['users'],
      onDone: () => {
        toast.ok(`User ${user.name} changed`);
        onClose();
      },
    },
  );
  const problem = password === '' ? null : checkPassword(password);
  const body = { ...(admin === user.admin ? {} : { admin }), ...(password === '' ? {} : { password }) };
  const nothing = Object.keys(body).length === 0;
  const lines = [
    ...(password === '' ? [] : [vcctl(['user', 'passwd', user.name])]),
    ...(admin === user.admin
      ? []
      : [vcctl(['api', 'PATCH', `/users/${user.name}`], { data: JSON.stringify({ admin }) })]),
  ];
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (!write.isPending && !nothing && problem === null) write.mutate(body);
  };
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <Checkbox
        label="Administrator"
        hint={self ? 'You cannot take your own rights.' : 'Sees and changes everything.'}
        checked={admin}
        disabled={self}
        onChange={(e) => setAdmin(e.target.checked)}
      />
      <TextField
        label="New password"
        optional
        type="password"
        autoComplete="new-password"
        value={password}
        onChange={(e) => setPassword(e.target.value)}
        error={(tried ? problem : null) ?? fieldErrors(write.error)['password'] ?? null}
        hint="Sessions and API tokens of the user end with the old one."
      />
      <FormProblem error={write.error} fields={['password']} />
      {lines.length > 0 && <CommandLine line={lines.join(' && ')} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={write.isPending} reason={nothing ? 'Nothing is changed yet.' : null}>
          Save
        </Button>
      </DialogActions>
    </form>
  );
}
