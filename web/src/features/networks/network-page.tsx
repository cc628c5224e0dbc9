import { Network as NetworkIcon, Pencil } from 'lucide-react';
import { useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import { OnePage } from '../../app/one-page';
import { EditDialog } from '../../app/edit-dialog';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { useScope } from '../../app/scope';
import { useVisited } from '../../app/palette/use-visited';
import { api } from '../../lib/api';
import { dateTime } from '../../lib/format';
import { useOne } from '../../lib/queries';
import type { Network } from '../../lib/types';
import { checkDescription, checkName } from '../../lib/validate';
import { Button } from '../../ui/button';
import { Copyable } from '../../ui/copy';
import { DeleteButton } from '../../ui/dialogs/delete-button';
import { Meter } from '../../ui/feedback/meter';
import { Card, Facts, Page } from '../../ui/page';
import { Ref } from '../../ui/ref';
import { Ports } from './ports';
import { Subnets } from './subnets';
import { WayOut } from './way-out';

const parent = { to: '/networks', label: 'Networks' };

export default function NetworkPage() {
  const { id = '' } = useParams();
  const result = useOne('/networks/{ref}', id, { listed: true });
  return (
    <OnePage noun="network" icon={NetworkIcon} parent={parent} result={result}>
      {(network) => <Shown network={network} />}
    </OnePage>
  );
}

function Shown({ network: n }: { network: Network }) {
  useVisited('network', `/networks/${n.id}`, n.name);
  const { reasonFor } = useScope();
  const navigate = useNavigate();
  const [editing, setEditing] = useState(false);
  const removal = useRemoval(
    'network',
    (network: Network) => api.delete('/networks/{ref}', { path: { ref: network.id } }),
    { touches: ['networks'], onGone: () => void navigate('/networks') },
  );
  const reason = reasonFor(n.projectId);
  return (
    <Page
      title={n.name}
      parent={parent}
      {...(n.description === '' ? {} : { description: n.description })}
      actions={
        <>
          <Button icon={Pencil} reason={reason} onClick={() => setEditing(true)}>
            Edit
          </Button>
          <DeleteButton name={n.name} reason={reason} onClick={() => removal.ask(n)} />
        </>
      }
    >
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="space-y-5">
          <Subnets network={n} reason={reason} />
          <Ports network={n} />
        </div>
        <div className="space-y-5">
          <NetworkFacts network={n} />
          <WayOut network={n} />
        </div>
      </div>
      <EditDialog
        noun="network"
        path="/networks/{ref}"
        item={editing ? n : null}
        onClose={() => setEditing(false)}
        fields={[
          { key: 'name', label: 'Name', value: n.name, check: checkName },
          { key: 'description', label: 'Description', value: n.description, optional: true, check: checkDescription },
        ]}
      />
      <RemovalDialog removal={removal}>A network that instances still use cannot be deleted.</RemovalDialog>
    </Page>
  );
}

function NetworkFacts({ network: n }: { network: Network }) {
  const { projectName } = useScope();
  return (
    <Card title="Facts">
      <Facts
        items={[
          [
            'Router',
            n.router === null ? (
              'none'
            ) : (
              <Ref key="router" to={`/routers/${n.router.id}`}>
                {n.router.name}
              </Ref>
            ),
          ],
          ['MTU', `${n.mtu} bytes`],
          [
            'Addresses',
            <Meter
              key="addresses"
              compact
              label="used"
              used={n.addresses.used}
              total={n.addresses.total}
              show={String}
            />,
          ],
          [
            'Project',
            <Ref key="project" to={`/projects/${n.projectId}`}>
              {projectName(n.projectId)}
            </Ref>,
          ],
          ['Created', dateTime(n.createdAt)],
          ['Id', <Copyable key="id" text={n.id} label="Copy id" />],
        ]}
      />
    </Card>
  );
}
