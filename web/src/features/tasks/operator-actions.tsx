import { Ban, RotateCcw, SkipForward } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { useWrite } from '../../lib/queries';
import type { TaskDetail } from '../../lib/types';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { Dialog, DialogActions } from '../../ui/dialogs/dialog';
import { TextField } from '../../ui/forms/field';
import { ProblemNote } from '../../ui/feedback/problem-note';
import { toast } from '../../ui/feedback/toast';

const verbs = {
  retry: {
    label: 'Undo again',
    icon: RotateCcw,
    look: 'primary',
    text: 'It goes on undoing where it stopped, with its whole time again. Mend the cause first.',
    done: 'The undo goes on',
  },
  'skip-step': {
    label: 'Skip step',
    icon: SkipForward,
    look: 'danger',
    text: 'The undo that it is at counts as done, and the others go on. What that step made may stay behind.',
    done: 'The step was skipped',
  },
  abandon: {
    label: 'Abandon',
    icon: Ban,
    look: 'danger',
    text: 'The task ends as failed, and nothing more is undone. What it made may stay behind, and the object is free for other tasks.',
    done: 'The task was abandoned',
  },
} as const;
type Verb = keyof typeof verbs;

/** What an administrator may do about a stuck task; each asks first, and for the reason. */
export function OperatorActions({ task }: { task: TaskDetail }) {
  const [verb, setVerb] = useState<Verb | null>(null);
  return (
    <div className="mt-5">
      <div className="flex flex-wrap gap-2">
        {(Object.keys(verbs) as Verb[]).map((key) => (
          <Button
            key={key}
            look={key === 'retry' ? 'primary' : 'secondary'}
            icon={verbs[key].icon}
            onClick={() => setVerb(key)}
          >
            {verbs[key].label}
          </Button>
        ))}
      </div>
      <Dialog
        open={verb !== null}
        onClose={() => setVerb(null)}
        title={verb === null ? '' : verbs[verb].label}
        description={verb === null ? '' : verbs[verb].text}
      >
        {verb !== null && <Confirm key={verb} task={task} verb={verb} onClose={() => setVerb(null)} />}
      </Dialog>
    </div>
  );
}

function Confirm({ task, verb, onClose }: { task: TaskDetail; verb: Verb; onClose: () => void }) {
  const [reason, setReason] = useState('');
  const { label, look, done } = verbs[verb];
  const act = useWrite(
    (body: { reason?: string }) => api.post(`/tasks/{id}/actions/${verb}`, { path: { id: task.id }, body }),
    {
      touches: ['tasks'],
      onDone: () => {
        toast.ok(done);
        onClose();
      },
    },
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!act.isPending) act.mutate(reason.trim() === '' ? {} : { reason: reason.trim() });
  };
  return (
    <form onSubmit={submit}>
      <TextField
        label="Reason"
        optional
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        hint="Kept with the task, with your name."
        maxLength={255}
        autoFocus
      />
      {act.error !== null && <ProblemNote error={act.error} className="mt-3" />}
      <CommandLine line={vcctl(['task', verb, task.id], { reason: reason.trim() })} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look={look} busy={act.isPending}>
          {label}
        </Button>
      </DialogActions>
    </form>
  );
}
