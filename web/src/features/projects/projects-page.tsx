import { FolderKanban, Plus } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { Link } from 'react-router';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { useScope } from '../../app/scope';
import { useNewDialog } from '../../app/use-new-dialog';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { words } from '../../lib/format';
import { fieldErrors } from '../../lib/problem';
import { useList, useWrite } from '../../lib/queries';
import type { Project } from '../../lib/types';
import { checkName } from '../../lib/validate';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { DeleteButton } from '../../ui/dialogs/delete-button';
import { Dialog, DialogActions } from '../../ui/dialogs/dialog';
import { TextField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';
import { actionColumn, ListPage } from '../../ui/lists/list-page';
import { useSearchFilter } from '../../ui/lists/search-filter';
import { Cut } from '../../ui/lists/table';
import { Age } from '../../ui/time';
import { toast } from '../../ui/feedback/toast';

export default function ProjectsPage() {
  const search = useSearchFilter();
  const { admin, projects } = useScope();
  const list = useList('/projects', { query: { q: search.q } });
  const dialog = useNewDialog(admin);
  const removal = useRemoval(
    'project',
    (project: Project) => api.delete('/projects/{ref}', { path: { ref: project.id } }),
    { touches: ['projects', 'whoami'] },
  );
  const create = admin && (
    <Button look="primary" icon={Plus} onClick={dialog.show}>
      New project
    </Button>
  );
  return (
    <ListPage
      title="Projects"
      description="A project owns instances, networks, images and keys. Members see only their projects."
      actions={create}
      list={list}
      search={search}
      empty={{
        icon: FolderKanban,
        title: 'No projects',
        text: admin ? 'Create one, then add members to it.' : 'Ask an administrator to add you to one.',
        action: create,
      }}
      columns={[
        {
          head: 'Name',
          name: true,
          cell: (p) => (
            <>
              <Link
                to={`/projects/${p.id}`}
                title={p.name}
                className="block truncate rounded font-medium hover:underline"
              >
                {p.name}
              </Link>
              {p.description !== '' && <Cut text={p.description} className="text-xs text-dim" />}
            </>
          ),
        },
        {
          head: 'Your role',
          className: 'text-dim',
          cell: (p) => words(projects.find((mine) => mine.id === p.id)?.role ?? '–'),
        },
        { head: 'Age', from: 'sm', className: 'text-dim', cell: (p) => <Age at={p.createdAt} /> },
        actionColumn<Project>(
          (p) => admin && <DeleteButton name={p.name} reason={null} onClick={() => removal.ask(p)} />,
        ),
      ]}
    >
      <Dialog open={dialog.open} onClose={dialog.hide} title="New project">
        <NewProject onClose={dialog.hide} />
      </Dialog>
      <RemovalDialog removal={removal}>Only an empty project can be deleted.</RemovalDialog>
    </ListPage>
  );
}

function NewProject({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [tried, setTried] = useState(false);
  const create = useWrite((body: { name: string; description?: string }) => api.post('/projects', { body }), {
    touches: ['projects', 'whoami'],
    onDone: (project) => {
      toast.ok(`Project ${project.name} created`);
      onClose();
    },
  });
  const refused = fieldErrors(create.error);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (create.isPending || checkName(name) !== null) return;
    create.mutate({ name, ...(description === '' ? {} : { description }) });
  };
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <TextField
        label="Name"
        value={name}
        onChange={(e) => setName(e.target.value)}
        error={(tried ? checkName(name) : null) ?? refused.name}
        placeholder="shop"
        autoFocus
      />
      <TextField
        label="Description"
        optional
        value={description}
        onChange={(e) => setDescription(e.target.value)}
        error={refused.description}
      />
      <FormProblem error={create.error} fields={['name', 'description']} />
      {name !== '' && <CommandLine line={vcctl(['project', 'create', name], { description })} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending}>
          Create project
        </Button>
      </DialogActions>
    </form>
  );
}
