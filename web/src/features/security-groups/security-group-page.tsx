import { Pencil, ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import { OnePage } from '../../app/one-page';
import { EditDialog } from '../../app/edit-dialog';
import { useVisited } from '../../app/palette/use-visited';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { useScope } from '../../app/scope';
import { api } from '../../lib/api';
import { dateTime } from '../../lib/format';
import { useOne } from '../../lib/queries';
import type { SecurityGroupWithRules } from '../../lib/types';
import { checkDescription, checkName } from '../../lib/validate';
import { Button } from '../../ui/button';
import { Copyable } from '../../ui/copy';
import { DeleteButton } from '../../ui/dialogs/delete-button';
import { Card, Facts, Page } from '../../ui/page';
import { Ref } from '../../ui/ref';
import { Rules } from './rules';
import { GroupState } from './security-groups-page';

const parent = { to: '/security-groups', label: 'Security groups' };

export default function SecurityGroupPage() {
  const { id = '' } = useParams();
  const result = useOne('/security-groups/{ref}', id);
  return (
    <OnePage noun="security group" icon={ShieldCheck} parent={parent} result={result}>
      {(group) => <Shown group={group} />}
    </OnePage>
  );
}

function Shown({ group: g }: { group: SecurityGroupWithRules }) {
  useVisited('security-group', `/security-groups/${g.id}`, g.name);
  const { projectName, reasonFor } = useScope();
  const navigate = useNavigate();
  const [editing, setEditing] = useState(false);
  const removal = useRemoval(
    'security group',
    (group: SecurityGroupWithRules) => api.delete('/security-groups/{ref}', { path: { ref: group.id } }),
    { touches: ['security-groups'], onGone: () => void navigate('/security-groups') },
  );
  const reason = reasonFor(g.projectId);
  return (
    <Page
      title={g.name}
      parent={parent}
      {...(g.description === '' ? {} : { description: g.description })}
      actions={
        <>
          <Button icon={Pencil} reason={reason} onClick={() => setEditing(true)}>
            Edit
          </Button>
          <DeleteButton
            name={g.name}
            reason={g.isDefault ? 'Every project has it' : reason}
            onClick={() => removal.ask(g)}
          />
        </>
      }
    >
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="space-y-5">
          <Rules group={g} direction="ingress" reason={reason} />
          <Rules group={g} direction="egress" reason={reason} />
        </div>
        <Card title="Facts">
          <Facts
            items={[
              ['State', <GroupState key="state" group={g} />],
              ['Hosts', g.hosts.concerned === 0 ? 'none' : `${g.hosts.converged} of ${g.hosts.concerned} know it`],
              ['Ports', String(g.portCount)],
              [
                'Project',
                <Ref key="project" to={`/projects/${g.projectId}`}>
                  {projectName(g.projectId)}
                </Ref>,
              ],
              ['Created', dateTime(g.createdAt)],
              ['Id', <Copyable key="id" text={g.id} label="Copy id" />],
            ]}
          />
        </Card>
      </div>
      <EditDialog
        noun="security group"
        path="/security-groups/{ref}"
        item={editing ? g : null}
        onClose={() => setEditing(false)}
        fields={[
          ...(g.isDefault ? [] : [{ key: 'name' as const, label: 'Name', value: g.name, check: checkName }]),
          { key: 'description', label: 'Description', value: g.description, optional: true, check: checkDescription },
        ]}
      />
      <RemovalDialog removal={removal}>A group that ports are in, or that rules name, cannot be deleted.</RemovalDialog>
    </Page>
  );
}
