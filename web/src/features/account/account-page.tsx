import { useState, type FormEvent } from 'react';
import { useScope } from '../../app/scope';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { words } from '../../lib/format';
import { fieldErrors } from '../../lib/problem';
import { useWrite } from '../../lib/queries';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { Checkbox, TextField } from '../../ui/forms/field';
import { Card, Facts, Page } from '../../ui/page';
import { FormProblem } from '../../ui/forms/form-problem';
import { toast } from '../../ui/feedback/toast';
import { Sessions } from '../users/sessions';
import { ApiTokens } from './api-tokens';

export default function AccountPage() {
  const { me } = useScope();
  return (
    <Page title="Account" description={`Signed in as ${me.user.name}.`}>
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="min-w-0 space-y-5">
          <ApiTokens />
          {me.user.admin && <Sessions user={me.user} />}
        </div>
        <div className="space-y-5">
          <Card title="You">
            <Facts
              items={[
                ['Name', me.user.name],
                ['Role', me.user.admin ? 'administrator' : 'user'],
                [
                  'Projects',
                  me.projects.length === 0
                    ? 'none'
                    : me.projects.map((p) => <div key={p.id}>{`${p.name} (${words(p.role).toLowerCase()})`}</div>),
                ],
              ]}
            />
          </Card>
          <Card title="Password">
            <ChangePassword />
          </Card>
        </div>
      </div>
    </Page>
  );
}

function ChangePassword() {
  const { me } = useScope();
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const [revoke, setRevoke] = useState(false);
  const [tried, setTried] = useState(false);
  const change = useWrite(
    (body: { current: string; password: string; revokeApiTokens: boolean }) => api.post('/users/me/password', { body }),
    {
      touches: ['api-tokens', `users/${me.user.id}/sessions`],
      onDone: () => {
        toast.ok('Password changed');
        setCurrent('');
        setPassword('');
        setRevoke(false);
        setTried(false);
      },
    },
  );
  const refused = fieldErrors(change.error);
  const weak = password.length < 12 ? 'At least 12 characters.' : null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (change.isPending || weak !== null || current === '') return;
    change.mutate({ current, password, revokeApiTokens: revoke });
  };
  return (
    <form onSubmit={submit} noValidate className="space-y-4 p-4">
      <input type="text" name="username" autoComplete="username" value={me.user.name} readOnly hidden />
      <TextField
        label="Current password"
        type="password"
        autoComplete="current-password"
        value={current}
        onChange={(e) => setCurrent(e.target.value)}
        error={(tried && current === '' ? 'Enter your password.' : null) ?? refused.current}
      />
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        value={password}
        onChange={(e) => setPassword(e.target.value)}
        error={(tried ? weak : null) ?? refused.password}
      />
      <Checkbox
        label="End my API tokens too"
        hint="They may have been made with the old password. Other sessions end in any case."
        checked={revoke}
        onChange={(e) => setRevoke(e.target.checked)}
      />
      <FormProblem error={change.error} fields={['current', 'password']} />
      {password !== '' && <CommandLine line={vcctl(['user', 'passwd'], { 'revoke-tokens': revoke })} />}
      <Button type="submit" busy={change.isPending}>
        Change password
      </Button>
    </form>
  );
}
