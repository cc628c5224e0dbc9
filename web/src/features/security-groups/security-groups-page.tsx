import { Plus, ShieldCheck } from 'lucide-react';
import { Link } from 'react-router';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { useScope } from '../../app/scope';
import { useProjectColumn } from '../../app/shell/project-column';
import { useNewDialog } from '../../app/use-new-dialog';
import { api } from '../../lib/api';
import { useList } from '../../lib/queries';
import type { SecurityGroup } from '../../lib/types';
import { Button } from '../../ui/button';
import { DeleteButton } from '../../ui/dialogs/delete-button';
import { Dialog } from '../../ui/dialogs/dialog';
import { StateBadge } from '../../ui/feedback/state';
import { actionColumn, ListPage } from '../../ui/lists/list-page';
import { useSearchFilter } from '../../ui/lists/search-filter';
import { Cut } from '../../ui/lists/table';
import { Age } from '../../ui/time';
import { NewSecurityGroup } from './new-security-group';

export default function SecurityGroupsPage() {
  const search = useSearchFilter();
  const scope = useScope();
  const list = useList('/security-groups', { query: { ...scope.query, q: search.q } });
  const dialog = useNewDialog(scope.readOnly === null);
  const removal = useRemoval(
    'security group',
    (group: SecurityGroup) => api.delete('/security-groups/{ref}', { path: { ref: group.id } }),
    { touches: ['security-groups'] },
  );
  const create = (
    <Button look="primary" icon={Plus} reason={scope.readOnly} onClick={dialog.show}>
      New security group
    </Button>
  );
  return (
    <ListPage
      title="Security groups"
      description="What may pass to and from the ports in them."
      actions={create}
      list={list}
      search={search}
      empty={{
        icon: ShieldCheck,
        title: 'No security groups yet',
        text: 'The first network of a project brings the group that ports are in by themselves.',
        action: create,
      }}
      columns={[
        {
          head: 'Name',
          name: true,
          cell: (g) => (
            <>
              <Link
                to={`/security-groups/${g.id}`}
                title={g.name}
                className="block truncate rounded font-medium hover:underline"
              >
                {g.name}
              </Link>
              {g.description !== '' && <Cut text={g.description} className="text-xs text-dim" />}
            </>
          ),
        },
        { head: 'State', cell: (g) => <GroupState group={g} /> },
        { head: 'Rules', from: 'sm', className: 'nums text-dim', cell: (g) => g.ruleCount },
        { head: 'Ports', from: 'sm', className: 'nums text-dim', cell: (g) => g.portCount },
        ...useProjectColumn<SecurityGroup>(),
        { head: 'Age', from: 'md', className: 'text-dim', cell: (g) => <Age at={g.createdAt} /> },
        actionColumn<SecurityGroup>((g) => (
          <DeleteButton
            name={g.name}
            reason={g.isDefault ? 'Every project has it' : scope.reasonFor(g.projectId)}
            onClick={() => removal.ask(g)}
          />
        )),
      ]}
    >
      <Dialog open={dialog.open} onClose={dialog.hide} title="New security group">
        <NewSecurityGroup onClose={dialog.hide} />
      </Dialog>
      <RemovalDialog removal={removal}>A group that ports are in, or that rules name, cannot be deleted.</RemovalDialog>
    </ListPage>
  );
}

/** Whether every host concerned does what the group says. */
export function GroupState({ group: { status, hosts } }: { group: SecurityGroup }) {
  return (
    <StateBadge
      state={status}
      title={
        hosts.concerned === 0 ? 'No host has to know it' : `${hosts.converged} of ${hosts.concerned} hosts know it`
      }
    />
  );
}
