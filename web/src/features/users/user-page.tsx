import { Pencil, User as UserIcon } from 'lucide-react';
import { useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { useScope } from '../../app/scope';
import { useVisited } from '../../app/palette/use-visited';
import { api } from '../../lib/api';
import { dateTime } from '../../lib/format';
import { ApiError } from '../../lib/problem';
import { useList, useOne } from '../../lib/queries';
import type { ApiToken, User } from '../../lib/types';
import { Button, ButtonLink } from '../../ui/button';
import { Copyable } from '../../ui/copy';
import { DeleteButton } from '../../ui/dialogs/delete-button';
import { Dialog } from '../../ui/dialogs/dialog';
import { Empty } from '../../ui/feedback/empty';
import { LoadError } from '../../ui/lists/list-states';
import { Card, Facts, Page } from '../../ui/page';
import { Skeleton } from '../../ui/lists/table';
import { ApiTokenTable } from './api-token-table';
import { EditUser } from './edit-user';
import { Sessions } from './sessions';
import { useUserSwitch } from './use-user-switch';
import { UserStatus } from './user-status';

const parent = { to: '/users', label: 'Users' };

export default function UserPage() {
  const { id = '' } = useParams();
  const result = useOne('/users/{ref}', id, { listed: true });
  if (result.error instanceof ApiError && result.error.status === 404)
    return (
      <Page title="User" parent={parent}>
        <Card>
          <Empty icon={UserIcon} title="There is no such user" action={<ButtonLink to="/users">All users</ButtonLink>}>
            The user was deleted, or the address is mistyped.
          </Empty>
        </Card>
      </Page>
    );
  if (result.data !== undefined) return <Shown user={result.data} />;
  return (
    <Page title="User" parent={parent}>
      <Card className="p-5">
        {result.error !== null ? (
          <LoadError error={result.error} onRetry={() => void result.refetch()} />
        ) : (
          <Skeleton className="h-40" />
        )}
      </Card>
    </Page>
  );
}

function Shown({ user }: { user: User }) {
  useVisited('user', `/users/${user.id}`, user.name);
  const { me } = useScope();
  const navigate = useNavigate();
  const [editing, setEditing] = useState(false);
  const flip = useUserSwitch();
  const removal = useRemoval('user', (user: User) => api.delete('/users/{ref}', { path: { ref: user.id } }), {
    touches: ['users'],
    onGone: () => void navigate('/users'),
  });
  const mine = user.id === me.user.id;
  const reason = mine ? 'This is you.' : null;
  return (
    <Page
      title={user.name}
      parent={parent}
      aside={<UserStatus user={user} />}
      actions={
        <>
          <Button icon={Pencil} onClick={() => setEditing(true)}>
            Edit
          </Button>
          <Button reason={reason} onClick={() => flip(user)}>
            {user.enabled ? 'Disable' : 'Enable'}
          </Button>
          <DeleteButton name={user.name} reason={reason} onClick={() => removal.ask(user)} />
        </>
      }
    >
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="min-w-0 space-y-5">
          <Sessions user={user} />
          <Tokens user={user} />
        </div>
        <Card title="Facts">
          <Facts
            items={[
              ['Created', dateTime(user.createdAt)],
              ['Id', <Copyable key="id" text={user.id} label="Copy id" />],
            ]}
          />
        </Card>
      </div>
      <Dialog open={editing} onClose={() => setEditing(false)} title={`Edit user ${user.name}`}>
        <EditUser user={user} self={mine} onClose={() => setEditing(false)} />
      </Dialog>
      <RemovalDialog removal={removal}>
        The sessions and API tokens of the user end at once. What the user created stays with its project.
      </RemovalDialog>
    </Page>
  );
}

function Tokens({ user }: { user: User }) {
  const ref = user.id;
  const list = useList('/users/{ref}/api-tokens', { path: { ref } });
  const removal = useRemoval(
    'API token',
    (token: ApiToken) => api.delete('/users/{ref}/api-tokens/{token}', { path: { ref, token: token.id } }),
    { touches: [`users/${ref}/api-tokens`, 'api-tokens'] },
  );
  return (
    <Card title="API tokens">
      <ApiTokenTable
        list={list}
        empty="None. A user makes tokens for programs on the own account page."
        onDelete={removal.ask}
      />
      <RemovalDialog removal={removal} words={['user', 'api-token', 'delete', user.name]}>
        Programs that use it are locked out at once.
      </RemovalDialog>
    </Card>
  );
}
