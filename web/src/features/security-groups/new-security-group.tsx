import { useTargetProject } from '../../app/shell/project-field';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { useWrite } from '../../lib/queries';
import type { CreateSecurityGroup } from '../../lib/types';
import { useForm } from '../../lib/use-form';
import { checkDescription, checkName } from '../../lib/validate';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { DialogActions } from '../../ui/dialogs/dialog';
import { toast } from '../../ui/feedback/toast';
import { TextField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';

const empty = { name: '', description: '' };
const problemsOf = ({ name, description }: typeof empty): Record<string, string | null> => ({
  name: checkName(name),
  description: checkDescription(description),
});
const bodyOf = (draft: typeof empty): CreateSecurityGroup | null =>
  Object.values(problemsOf(draft)).some((problem) => problem !== null) ? null : draft;

export function NewSecurityGroup({ onClose }: { onClose: () => void }) {
  const target = useTargetProject();
  const create = useWrite((body: CreateSecurityGroup) => api.post('/security-groups', { body, query: target.query }), {
    touches: ['security-groups'],
    onDone: (group) => {
      toast.ok(`Security group ${group.name} created`);
      onClose();
    },
  });
  const { draft, field, submit } = useForm(empty, create, problemsOf, bodyOf);
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      {target.field}
      <TextField label="Name" {...field('name')} placeholder="web" autoFocus />
      <TextField label="Description" optional {...field('description')} />
      <p className="text-sm text-dim">It lets nothing in and nothing out until it has rules.</p>
      <FormProblem error={create.error} fields={['name', 'description']} />
      {draft.name !== '' && (
        <CommandLine line={vcctl(['security-group', 'create', draft.name], { description: draft.description })} />
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending}>
          Create group
        </Button>
      </DialogActions>
    </form>
  );
}
