import { Plus, Users } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { Link } from 'react-router';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { useScope } from '../../app/scope';
import { useNewDialog } from '../../app/use-new-dialog';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { fieldErrors } from '../../lib/problem';
import { useList, useWrite } from '../../lib/queries';
import type { User } from '../../lib/types';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { DeleteButton } from '../../ui/dialogs/delete-button';
import { Dialog, DialogActions } from '../../ui/dialogs/dialog';
import { EditButton } from '../../ui/dialogs/edit-button';
import { Checkbox, TextField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { actionColumn, ListPage } from '../../ui/lists/list-page';
import { RowActions } from '../../ui/lists/row-actions';
import { useSearchFilter } from '../../ui/lists/search-filter';
import { Age } from '../../ui/time';
import { toast } from '../../ui/feedback/toast';
import { EditUser } from './edit-user';
import { checkPassword, checkUserName } from './user-rules';
import { useUserSwitch } from './use-user-switch';
import { UserStatus } from './user-status';

export default function UsersPage() {
  const search = useSearchFilter();
  const { me } = useScope();
  const list = useList('/users', { query: { q: search.q } });
  const dialog = useNewDialog(true);
  const removal = useRemoval('user', (user: User) => api.delete('/users/{ref}', { path: { ref: user.id } }), {
    touches: ['users'],
  });
  const [edited, setEdited] = useState<User | null>(null);
  const flip = useUserSwitch();
  const mine = (user: User): string | null => (user.id === me.user.id ? 'This is you.' : null);
  const create = (
    <Button look="primary" icon={Plus} onClick={dialog.show}>
      New user
    </Button>
  );
  return (
    <ListPage
      title="Users"
      description="Who may sign in. What they may do comes from their projects."
      actions={create}
      list={list}
      search={search}
      empty={{ icon: Users, title: 'No users', text: 'Create one and add it to a project.', action: create }}
      columns={[
        {
          head: 'Name',
          name: true,
          cell: (u) => (
            <Link to={`/users/${u.id}`} title={u.name} className="block truncate rounded font-medium hover:underline">
              {u.name}
            </Link>
          ),
        },
        { head: 'Status', cell: (u) => <UserStatus user={u} /> },
        { head: 'Age', from: 'sm', className: 'text-dim', cell: (u) => <Age at={u.createdAt} /> },
        {
          ...actionColumn<User>((u) => (
            <RowActions>
              <EditButton name={u.name} reason={null} onClick={() => setEdited(u)} />
              {/* A phone has no room for it in the row; the user's page has it too. */}
              <Button look="ghost" size="sm" className="max-sm:hidden" reason={mine(u)} onClick={() => flip(u)}>
                {u.enabled ? 'Disable' : 'Enable'}
              </Button>
              <DeleteButton name={u.name} reason={mine(u)} onClick={() => removal.ask(u)} />
            </RowActions>
          )),
          headClassName: 'text-right',
          className: 'py-0 text-right whitespace-nowrap',
        },
      ]}
    >
      <Dialog open={dialog.open} onClose={dialog.hide} title="New user">
        <NewUser onClose={dialog.hide} />
      </Dialog>
      <Dialog open={edited !== null} onClose={() => setEdited(null)} title={`Edit user ${edited?.name ?? ''}`}>
        {edited !== null && <EditUser user={edited} self={mine(edited) !== null} onClose={() => setEdited(null)} />}
      </Dialog>
      <RemovalDialog removal={removal}>
        The sessions and API tokens of the user end at once. What the user created stays with its project.
      </RemovalDialog>
    </ListPage>
  );
}

function NewUser({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [admin, setAdmin] = useState(false);
  const [tried, setTried] = useState(false);
  const create = useWrite((body: { name: string; password: string; admin: boolean }) => api.post('/users', { body }), {
    touches: ['users'],
    onDone: (user) => {
      toast.ok(`User ${user.name} created`);
      onClose();
    },
  });
  const problems: Record<string, string | null> = {
    name: checkUserName(name),
    password: checkPassword(password),
  };
  const refused = fieldErrors(create.error);
  const show = (field: string): string | null => (tried ? problems[field] : null) ?? refused[field] ?? null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (create.isPending || Object.values(problems).some((p) => p !== null)) return;
    create.mutate({ name, password, admin });
  };
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <TextField
        label="Name"
        value={name}
        onChange={(e) => setName(e.target.value)}
        error={show('name')}
        autoCapitalize="none"
        autoFocus
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="new-password"
        value={password}
        onChange={(e) => setPassword(e.target.value)}
        error={show('password')}
        hint="At least 12 characters."
      />
      <Checkbox
        label="Administrator"
        hint="Sees and changes everything."
        checked={admin}
        onChange={(e) => setAdmin(e.target.checked)}
      />
      <FormProblem error={create.error} fields={['name', 'password']} />
      {name !== '' && <CommandLine line={vcctl(['user', 'create', name], { admin })} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending}>
          Create user
        </Button>
      </DialogActions>
    </form>
  );
}
