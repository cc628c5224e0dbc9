import { LogOut } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { dateTime } from '../../lib/format';
import { useList, useWrite } from '../../lib/queries';
import type { Session, User } from '../../lib/types';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { Dialog, DialogActions } from '../../ui/dialogs/dialog';
import { FormProblem } from '../../ui/forms/form-problem';
import { Card } from '../../ui/page';
import { PlainList } from '../../ui/lists/plain-list';
import { Head, Row, SkeletonRows, Table, Td, Th } from '../../ui/lists/table';
import { Age } from '../../ui/time';
import { toast } from '../../ui/feedback/toast';

/** Where a user is logged in, and the end of it. Administrators only. */
export function Sessions({ user }: { user: Pick<User, 'id' | 'name'> }) {
  const list = useList('/users/{ref}/sessions', { path: { ref: user.id } });
  const [ended, setEnded] = useState<Session | 'all' | null>(null);
  return (
    <Card
      title="Sessions"
      action={
        list.items.length > 1 && (
          <Button size="sm" icon={LogOut} onClick={() => setEnded('all')}>
            End all
          </Button>
        )
      }
    >
      <PlainList list={list} empty="Logged in nowhere.">
        <Table label="Sessions">
          <Head>
            <Th>From</Th>
            <Th from="sm">Opened</Th>
            <Th>Last used</Th>
            <Th from="md">Expires</Th>
            <Th className="w-12">
              <span className="sr-only">Actions</span>
            </Th>
          </Head>
          <tbody>
            {list.isPending && <SkeletonRows columns={5} rows={2} />}
            {list.items.map((s) => (
              <Row key={s.id}>
                <Td className="w-full font-mono text-xs">{s.remoteAddress ?? 'unknown'}</Td>
                <Td from="sm" className="text-dim">
                  <Age at={s.createdAt} suffix=" ago" />
                </Td>
                <Td className="text-dim">
                  <Age at={s.lastUsedAt} suffix=" ago" />
                </Td>
                <Td from="md" className="text-dim">
                  <span title={dateTime(s.expiresAt)}>{new Date(s.expiresAt).toLocaleDateString()}</span>
                </Td>
                <Td className="w-12 py-0 text-right">
                  <Button
                    look="ghost"
                    size="sm"
                    aria-label={`End the session from ${s.remoteAddress ?? 'an unknown address'}`}
                    onClick={() => setEnded(s)}
                  >
                    End
                  </Button>
                </Td>
              </Row>
            ))}
          </tbody>
        </Table>
      </PlainList>
      <Dialog
        open={ended !== null}
        onClose={() => setEnded(null)}
        title={ended === 'all' ? `End all sessions of ${user.name}` : `End a session of ${user.name}`}
        description="It is refused at once, with its consoles and live lists. API tokens go on."
      >
        {ended !== null && <End user={user} session={ended} onClose={() => setEnded(null)} />}
      </Dialog>
    </Card>
  );
}

function End({
  user,
  session,
  onClose,
}: {
  user: Pick<User, 'id' | 'name'>;
  session: Session | 'all';
  onClose: () => void;
}) {
  const id = session === 'all' ? null : session.id;
  const ref = user.id;
  const call = (): Promise<undefined> =>
    id === null
      ? api.delete('/users/{ref}/sessions', { path: { ref } })
      : api.delete('/users/{ref}/sessions/{id}', { path: { ref, id } });
  const end = useWrite(call, {
    touches: [`users/${ref}/sessions`],
    onDone: () => {
      toast.ok(id === null ? `All sessions of ${user.name} ended` : `A session of ${user.name} ended`);
      onClose();
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!end.isPending) end.mutate();
      }}
    >
      <FormProblem error={end.error} fields={[]} />
      <CommandLine
        line={vcctl(['user', 'session', 'delete', user.name, ...(id === null ? [] : [id])], { all: id === null })}
      />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="danger" busy={end.isPending}>
          {id === null ? 'End all' : 'End session'}
        </Button>
      </DialogActions>
    </form>
  );
}
