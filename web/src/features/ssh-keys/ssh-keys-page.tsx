import { KeyRound, Plus } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { EditDialog } from '../../app/edit-dialog';
import { useTargetProject } from '../../app/shell/project-field';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { useProjectColumn } from '../../app/shell/project-column';
import { useScope } from '../../app/scope';
import { useNewDialog } from '../../app/use-new-dialog';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { fieldErrors } from '../../lib/problem';
import { useList, useWrite } from '../../lib/queries';
import type { SshKey } from '../../lib/types';
import { checkName } from '../../lib/validate';
import { checkPublicKey } from './public-key-rule';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { CopyButton } from '../../ui/copy';
import { DeleteButton } from '../../ui/dialogs/delete-button';
import { Dialog, DialogActions } from '../../ui/dialogs/dialog';
import { EditButton } from '../../ui/dialogs/edit-button';
import { TextArea, TextField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { actionColumn, ListPage } from '../../ui/lists/list-page';
import { RowActions } from '../../ui/lists/row-actions';
import { useSearchFilter } from '../../ui/lists/search-filter';
import { Cut } from '../../ui/lists/table';
import { Age } from '../../ui/time';
import { toast } from '../../ui/feedback/toast';

export default function SshKeysPage() {
  const search = useSearchFilter();
  const scope = useScope();
  const list = useList('/ssh-keys', { query: { ...scope.query, q: search.q } });
  const dialog = useNewDialog(scope.readOnly === null);
  const removal = useRemoval('SSH key', (key: SshKey) => api.delete('/ssh-keys/{ref}', { path: { ref: key.id } }), {
    touches: ['ssh-keys'],
  });
  const [edited, setEdited] = useState<SshKey | null>(null);
  const add = (
    <Button look="primary" icon={Plus} reason={scope.readOnly} onClick={dialog.show}>
      Add SSH key
    </Button>
  );
  return (
    <ListPage
      title="SSH keys"
      description="Public keys that new instances can be given."
      actions={add}
      list={list}
      search={search}
      empty={{
        icon: KeyRound,
        title: 'No SSH keys yet',
        text: 'Store your public key once, and choose it whenever you create an instance. It is usually in ~/.ssh/id_ed25519.pub.',
        action: add,
      }}
      columns={[
        { head: 'Name', name: true, cell: (k) => <Cut text={k.name} className="font-medium" /> },
        { head: 'Type', from: 'sm', className: 'max-w-40 text-dim', cell: (k) => <Cut text={k.type} /> },
        {
          head: 'Fingerprint',
          className: 'max-w-32 sm:max-w-80',
          cell: (k) => (
            <span className="flex items-center gap-1">
              <Cut text={k.fingerprint} className="font-mono text-xs" />
              <CopyButton text={k.publicKey} label={`Copy the public key ${k.name}`} />
            </span>
          ),
        },
        ...useProjectColumn<SshKey>(),
        { head: 'Age', from: 'md', className: 'text-dim', cell: (k) => <Age at={k.createdAt} /> },
        actionColumn<SshKey>((k) => (
          <RowActions>
            <EditButton name={k.name} reason={scope.reasonFor(k.projectId)} onClick={() => setEdited(k)} />
            <DeleteButton name={k.name} reason={scope.reasonFor(k.projectId)} onClick={() => removal.ask(k)} />
          </RowActions>
        )),
      ]}
    >
      <Dialog open={dialog.open} onClose={dialog.hide} title="Add SSH key">
        <NewKey onClose={dialog.hide} />
      </Dialog>
      <EditDialog
        noun="SSH key"
        path="/ssh-keys/{ref}"
        item={edited}
        onClose={() => setEdited(null)}
        fields={[{ key: 'name', label: 'Name', value: edited?.name ?? '', check: checkName }]}
      />
      <RemovalDialog removal={removal}>Instances that have it keep it.</RemovalDialog>
    </ListPage>
  );
}

function NewKey({ onClose }: { onClose: () => void }) {
  const target = useTargetProject();
  const [name, setName] = useState('');
  const [publicKey, setPublicKey] = useState('');
  const [tried, setTried] = useState(false);
  const create = useWrite(
    (body: { name: string; publicKey: string }) => api.post('/ssh-keys', { body, query: target.query }),
    {
      touches: ['ssh-keys'],
      onDone: (key) => {
        toast.ok(`SSH key ${key.name} added`);
        onClose();
      },
    },
  );
  const problems: Record<string, string | null> = { name: checkName(name), publicKey: checkPublicKey(publicKey) };
  const refused = fieldErrors(create.error);
  const show = (field: string): string | null => (tried ? problems[field] : null) ?? refused[field] ?? null;
  const paste = (value: string): void => {
    setPublicKey(value);
    const comment = value.trim().split(/\s+/).slice(2).join(' ');
    if (name === '' && comment !== '' && checkName(comment) === null) setName(comment);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (create.isPending || Object.values(problems).some((p) => p !== null)) return;
    create.mutate({ name, publicKey: publicKey.trim() });
  };
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      {target.field}
      <TextArea
        label="Public key"
        mono
        rows={4}
        value={publicKey}
        onChange={(e) => paste(e.target.value)}
        error={show('publicKey')}
        placeholder="ssh-ed25519 AAAA… you@laptop"
        autoFocus
      />
      <TextField
        label="Name"
        value={name}
        onChange={(e) => setName(e.target.value)}
        error={show('name')}
        placeholder="laptop"
      />
      <FormProblem error={create.error} fields={['name', 'publicKey']} />
      {name !== '' && <CommandLine line={vcctl(['ssh-key', 'create', name, '~/.ssh/id_ed25519.pub'])} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending}>
          Add SSH key
        </Button>
      </DialogActions>
    </form>
  );
}
