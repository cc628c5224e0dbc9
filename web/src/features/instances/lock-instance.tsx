import { useState, type FormEvent } from 'react';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { useWrite } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { Dialog, DialogActions } from '../../ui/dialogs/dialog';
import { toast } from '../../ui/feedback/toast';
import { TextField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';

/** Asks why, and locks. */
export function LockInstance({ instance, open, onClose }: { instance: Instance; open: boolean; onClose: () => void }) {
  const [reason, setReason] = useState('');
  const write = useWrite(
    () => api.post('/instances/{ref}/actions/lock', { path: { ref: instance.id }, body: { reason } }),
    {
      touches: ['instances'],
      onDone: () => {
        toast.ok(`Instance ${instance.name} locked`);
        setReason('');
        onClose();
      },
    },
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!write.isPending) write.mutate(undefined);
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Lock ${instance.name}`}
      description="Until it is unlocked nothing can be done with it but to look at it and to use its console. This holds for everyone."
    >
      <form onSubmit={submit} noValidate className="space-y-4">
        <TextField
          label="Why"
          optional
          autoFocus
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          hint="Shown to who is refused."
        />
        <FormProblem error={write.error} fields={[]} />
        <CommandLine line={vcctl(['instance', 'lock', instance.name], reason === '' ? {} : { reason: [reason] })} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={write.isPending}>
            Lock
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
