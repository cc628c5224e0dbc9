import { useState, type ReactNode } from 'react';
import { vcctl } from '../lib/command';
import { taskIdOf, useWrite } from '../lib/queries';
import type { ApiError } from '../lib/problem';
import { ConfirmDelete } from '../ui/dialogs/confirm-delete';
import { toast } from '../ui/feedback/toast';
import { followTask } from '../features/tasks/open-task';

interface Named {
  id: string;
  name: string;
}

/** Deleting one thing of a list: which one is asked about, and what became of it. */
export interface Removal<T extends Named> {
  noun: string;
  doomed: T | null;
  ask: (item: T) => void;
  cancel: () => void;
  confirm: () => void;
  busy: boolean;
  error: ApiError | null;
}

/**
 * Deletes things of a REST collection. Where the server answers with a task that one is followed, else a toast tells.
 * @param noun as in "Delete this image?"
 * @param call deletes the one
 * @param touches the collections that change with it, its own first
 * @param onGone the server has accepted it
 */
export const useRemoval = <T extends Named>(
  noun: string,
  call: (item: T) => Promise<unknown>,
  { touches, onGone }: { touches: readonly string[]; onGone?: () => void },
): Removal<T> => {
  const [doomed, setDoomed] = useState<T | null>(null);
  const remove = useWrite(call, {
    touches,
    onDone: (answer, item) => {
      const task = taskIdOf(answer);
      if (task === null) toast.ok(`${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${item.name} deleted`);
      else followTask(task);
      setDoomed(null);
      onGone?.();
    },
  });
  return {
    noun,
    doomed,
    ask: setDoomed,
    cancel: () => {
      setDoomed(null);
      remove.reset();
    },
    confirm: () => {
      if (doomed !== null) remove.mutate(doomed);
    },
    busy: remove.isPending,
    error: remove.error,
  };
};

/**
 * The question before a removal. `children`: what goes with it, and what stays.
 * @param words of the vcctl line before the name; those of the noun when missing
 */
export function RemovalDialog<T extends Named>({
  removal,
  words = [removal.noun.replaceAll(' ', '-').toLowerCase(), 'delete'],
  children,
}: {
  removal: Removal<T>;
  words?: readonly string[];
  children: ReactNode;
}) {
  return (
    <ConfirmDelete
      open={removal.doomed !== null}
      onClose={removal.cancel}
      noun={removal.noun}
      phrase={removal.doomed?.name ?? ''}
      busy={removal.busy}
      error={removal.error}
      onConfirm={removal.confirm}
      command={vcctl([...words, removal.doomed?.name ?? ''])}
    >
      {children}
    </ConfirmDelete>
  );
}
