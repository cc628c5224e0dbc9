import { useState } from 'react';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { dateTime } from '../../lib/format';
import { useList, useWrite } from '../../lib/queries';
import type { HostTokenInfo } from '../../lib/types';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { Dialog, DialogActions } from '../../ui/dialogs/dialog';
import { FormProblem } from '../../ui/forms/form-problem';
import { Card } from '../../ui/page';
import { PlainList } from '../../ui/lists/plain-list';
import { Head, Row, Table, Td, Th } from '../../ui/lists/table';
import { toast } from '../../ui/feedback/toast';
import { useActorName } from '../tasks/use-actor-name';

/** Commands that were made and with which a host may still join. Nothing when there are none. */
export function HostTokens() {
  const list = useList('/host-tokens');
  const [withdrawn, setWithdrawn] = useState<HostTokenInfo | null>(null);
  const open = list.items.filter((t) => t.state === 'open');
  const nameOf = useActorName(open.map((t) => t.createdBy));
  if (open.length === 0 && list.error === null) return null;
  return (
    <Card title="Commands that are still good" className="mt-5">
      <PlainList list={list} empty="">
        <Table label="Commands that are still good">
          <Head>
            <Th>Made by</Th>
            <Th from="sm">Made</Th>
            <Th>Good until</Th>
            <Th className="w-12">
              <span className="sr-only">Actions</span>
            </Th>
          </Head>
          <tbody>
            {open.map((t) => (
              <Row key={t.id}>
                <Td className="w-full">{nameOf(t.createdBy)}</Td>
                <Td from="sm" className="text-dim">
                  {dateTime(t.createdAt)}
                </Td>
                <Td className="text-dim">{dateTime(t.expiresAt)}</Td>
                <Td className="w-12 py-0 text-right">
                  <Button look="ghost" size="sm" onClick={() => setWithdrawn(t)}>
                    Withdraw
                  </Button>
                </Td>
              </Row>
            ))}
          </tbody>
        </Table>
      </PlainList>
      <Dialog
        open={withdrawn !== null}
        onClose={() => setWithdrawn(null)}
        title="Withdraw a command"
        description="No host can join with it any more."
      >
        {withdrawn !== null && <Withdraw id={withdrawn.id} onClose={() => setWithdrawn(null)} />}
      </Dialog>
    </Card>
  );
}

function Withdraw({ id, onClose }: { id: string; onClose: () => void }) {
  const withdraw = useWrite(() => api.delete('/host-tokens/{id}', { path: { id } }), {
    touches: ['host-tokens'],
    onDone: () => {
      toast.ok('The command was withdrawn');
      onClose();
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!withdraw.isPending) withdraw.mutate();
      }}
    >
      <FormProblem error={withdraw.error} fields={[]} />
      <CommandLine line={vcctl(['host', 'token', 'delete', id])} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="danger" busy={withdraw.isPending}>
          Withdraw
        </Button>
      </DialogActions>
    </form>
  );
}
