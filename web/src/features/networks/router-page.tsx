import { Pencil, Waypoints } from 'lucide-react';
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
import type { Router } from '../../lib/types';
import { checkDescription, checkName } from '../../lib/validate';
import { Button } from '../../ui/button';
import { Copyable } from '../../ui/copy';
import { DeleteButton } from '../../ui/dialogs/delete-button';
import { Card, Facts, Page } from '../../ui/page';
import { Ref } from '../../ui/ref';
import { RouterSubnets } from './router-subnets';

const parent = { to: '/routers', label: 'Routers' };

export default function RouterPage() {
  const { id = '' } = useParams();
  const result = useOne('/routers/{ref}', id, { listed: true });
  return (
    <OnePage noun="router" icon={Waypoints} parent={parent} result={result}>
      {(router) => <Shown router={router} />}
    </OnePage>
  );
}

function Shown({ router: r }: { router: Router }) {
  useVisited('router', `/routers/${r.id}`, r.name);
  const { projectName, reasonFor } = useScope();
  const navigate = useNavigate();
  const [editing, setEditing] = useState(false);
  const removal = useRemoval('router', (router: Router) => api.delete('/routers/{ref}', { path: { ref: router.id } }), {
    touches: ['routers'],
    onGone: () => void navigate('/routers'),
  });
  const reason = reasonFor(r.projectId);
  return (
    <Page
      title={r.name}
      parent={parent}
      {...(r.description === '' ? {} : { description: r.description })}
      actions={
        <>
          <Button icon={Pencil} reason={reason} onClick={() => setEditing(true)}>
            Edit
          </Button>
          <DeleteButton name={r.name} reason={reason} onClick={() => removal.ask(r)} />
        </>
      }
    >
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <RouterSubnets router={r} reason={reason} />
        <Card title="Facts">
          <Facts
            items={[
              ['Outside', r.snat ? 'reached by source NAT' : 'not reached'],
              [
                'Project',
                <Ref key="project" to={`/projects/${r.projectId}`}>
                  {projectName(r.projectId)}
                </Ref>,
              ],
              ['Created', dateTime(r.createdAt)],
              ['Id', <Copyable key="id" text={r.id} label="Copy id" />],
            ]}
          />
        </Card>
      </div>
      <EditDialog
        noun="router"
        path="/routers/{ref}"
        item={editing ? r : null}
        onClose={() => setEditing(false)}
        fields={[
          { key: 'name', label: 'Name', value: r.name, check: checkName },
          { key: 'description', label: 'Description', value: r.description, optional: true, check: checkDescription },
        ]}
      />
      <RemovalDialog removal={removal}>A router that subnets are on cannot be deleted.</RemovalDialog>
    </Page>
  );
}
