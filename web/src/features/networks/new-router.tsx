import { useTargetProject } from '../../app/shell/project-field';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { useWrite } from '../../lib/queries';
import type { CreateRouter } from '../../lib/types';
import { useForm } from '../../lib/use-form';
import { checkName } from '../../lib/validate';
import { Button } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { DialogActions } from '../../ui/dialogs/dialog';
import { toast } from '../../ui/feedback/toast';
import { Checkbox, TextField } from '../../ui/forms/field';
import { FormProblem } from '../../ui/forms/form-problem';

const empty = { name: '', snat: true };
const problemsOf = ({ name }: typeof empty): Record<string, string | null> => ({ name: checkName(name) });
const bodyOf = (draft: typeof empty): CreateRouter | null => (problemsOf(draft)['name'] === null ? draft : null);

export function NewRouter({ onClose }: { onClose: () => void }) {
  const target = useTargetProject();
  const create = useWrite((body: CreateRouter) => api.post('/routers', { body, query: target.query }), {
    touches: ['routers'],
    onDone: (router) => {
      toast.ok(`Router ${router.name} created`);
      onClose();
    },
  });
  const { draft, change, field, submit } = useForm(empty, create, problemsOf, bodyOf);
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      {target.field}
      <TextField label="Name" {...field('name')} placeholder="between" autoFocus />
      <Checkbox
        label="Reach the outside"
        hint="By source NAT. Without it its subnets reach each other only."
        checked={draft.snat}
        onChange={(e) => change({ snat: e.target.checked })}
      />
      <FormProblem error={create.error} fields={['name']} />
      {draft.name !== '' && <CommandLine line={vcctl(['router', 'create', draft.name], { 'no-snat': !draft.snat })} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending}>
          Create router
        </Button>
      </DialogActions>
    </form>
  );
}
