import { useState, type FormEvent } from 'react';
import { leastMemory } from '../../../../src/modules/compute/contract/instance-balloon';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { bytes, parseBytes } from '../../lib/format';
import { taskIdOf, useWrite } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { Dialog, DialogActions } from '../../ui/dialogs/dialog';
import { TextField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { followTask } from '../tasks/open-task';

interface Props {
  instance: Instance;
  open: boolean;
  onClose: () => void;
}

const mebibyte = 1024 * 1024;

/** What is wrong with what was typed; an empty one means all. */
const problemOf = (text: string, { flavor }: Instance): string | null => {
  if (text.trim() === '') return null;
  const wanted = parseBytes(text, 'm');
  if (wanted === null) return 'A size such as 512 MiB or 2 GiB.';
  if (wanted % mebibyte !== 0) return 'Whole mebibytes only.';
  const least = leastMemory(flavor.memoryBytes);
  if (wanted < least) return `Its guest keeps ${bytes(least)} at least.`;
  return wanted > flavor.memoryBytes ? `It has ${bytes(flavor.memoryBytes)}.` : null;
};

/** How much of its memory the guest of an instance that runs keeps. */
export function BalloonInstance({ instance, open, onClose }: Props) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Memory of ${instance.name}`}
      description="Its guest keeps so much of its memory while it runs, and its host has the rest. Its next start gives it all of it."
    >
      {open && <Form instance={instance} onClose={onClose} />}
    </Dialog>
  );
}

function Form({ instance, onClose }: Omit<Props, 'open'>) {
  const [text, setText] = useState('');
  const problem = problemOf(text, instance);
  const memoryBytes = text.trim() === '' ? null : parseBytes(text, 'm');
  const write = useWrite(
    () => api.post('/instances/{ref}/actions/balloon', { path: { ref: instance.id }, body: { memoryBytes } }),
    {
      touches: ['instances', 'tasks'],
      onDone: (answer) => {
        onClose();
        followTask(taskIdOf(answer));
      },
    },
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!write.isPending && problem === null) write.mutate(undefined);
  };
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <TextField
        label="Memory that it keeps"
        autoFocus
        placeholder={bytes(instance.flavor.memoryBytes)}
        value={text}
        onChange={(event) => setText(event.target.value)}
        error={problem}
        hint="Empty: all of it."
      />
      <FormProblem error={write.error} fields={[]} />
      {problem === null && (
        <CommandLine
          line={vcctl(['instance', 'balloon', instance.name], {
            memory: memoryBytes === null ? 'all' : text.replaceAll(' ', ''),
          })}
        />
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={write.isPending} reason={problem}>
          Ask its guest
        </Button>
      </DialogActions>
    </form>
  );
}
