import { useId, useState, type ReactNode } from 'react';
import type { ApiError } from '../../lib/problem';
import { Button } from '../button';
import { CommandLine } from '../command-line';
import { Dialog, DialogActions } from './dialog';
import { inputClass } from '../forms/field';
import { ProblemNote } from '../feedback/problem-note';

interface Props {
  open: boolean;
  onClose: () => void;
  /** `instance`, `image` ... as in "Delete this instance?". */
  noun: string;
  /** What must be typed. */
  phrase: string;
  children: ReactNode;
  onConfirm: () => void;
  busy: boolean;
  error: ApiError | null;
  verb?: string;
  /** The same by vcctl. */
  command?: string;
}

/** Asks for the name to be typed before anything is destroyed. */
export function ConfirmDelete({ open, onClose, ...rest }: Props) {
  return (
    <Dialog open={open} onClose={onClose} title={`${rest.verb ?? 'Delete'} ${rest.noun}`}>
      <Form onClose={onClose} {...rest} />
    </Dialog>
  );
}

function Form({ onClose, phrase, children, onConfirm, busy, error, verb = 'Delete', command }: Omit<Props, 'open'>) {
  const [typed, setTyped] = useState('');
  const id = useId();
  const matches = typed.trim() === phrase.trim();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (matches && !busy) onConfirm();
      }}
    >
      <div className="text-sm text-dim">{children}</div>
      <label htmlFor={id} className="mt-4 mb-1.5 block text-sm">
        Type <strong className="font-semibold break-all select-all">{phrase}</strong> to confirm
      </label>
      <input
        id={id}
        className={inputClass}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        autoFocus
      />
      {error !== null && <ProblemNote error={error} className="mt-3" />}
      {command !== undefined && <CommandLine line={command} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="danger" busy={busy} reason={matches ? null : 'Type the name first.'}>
          {verb}
        </Button>
      </DialogActions>
    </form>
  );
}
