import { useState } from 'react';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { dateTime } from '../../lib/format';
import { useWrite } from '../../lib/queries';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { CopyButton } from '../../ui/copy';
import { DialogActions } from '../../ui/dialogs/dialog';
import { SelectField } from '../../ui/forms/field';
import { ProblemNote } from '../../ui/feedback/problem-note';

const lifetimes = [
  [10, '10 minutes'],
  [30, '30 minutes'],
  [240, '4 hours'],
  [1440, '1 day'],
] as const;

/** Makes a one-time token and shows the command that carries it. Both are shown once. */
export function AddHost({ onClose }: { onClose: () => void }) {
  const [minutes, setMinutes] = useState(30);
  const create = useWrite(() => api.post('/host-tokens', { body: { expiresInMinutes: minutes } }), {
    touches: ['host-tokens'],
  });
  const token = create.data;
  if (token === undefined)
    return (
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!create.isPending) create.mutate();
        }}
      >
        <SelectField
          label="The command is good for"
          value={minutes}
          onChange={(e) => setMinutes(Number(e.target.value))}
          hint="It can be used once, on one machine."
          className="max-w-60"
        >
          {lifetimes.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
        {create.error !== null && <ProblemNote error={create.error} className="mt-3" />}
        <CommandLine line={vcctl(['host', 'token', 'create'], { 'expires-in-minutes': String(minutes) })} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={create.isPending}>
            Make the command
          </Button>
        </DialogActions>
      </form>
    );
  return (
    <div>
      <h3 className="mb-1.5 text-sm font-medium">On the new host, as root</h3>
      <div className="flex items-start gap-2 rounded-lg border border-line bg-sunken p-3">
        <code className="min-w-0 flex-1 font-mono text-xs break-all whitespace-pre-wrap select-all">
          {token.command}
        </code>
        <CopyButton text={token.command} label="Copy the command" />
      </div>
      <p className="mt-2 text-xs text-dim">
        Shown once, and good until {dateTime(token.expiresAt)}. The token is a secret: whoever runs the command first
        joins.
      </p>
      <DialogActions>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </div>
  );
}
