import { FlaskConical, Server } from 'lucide-react';
import { Switch } from 'radix-ui';
import { useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { useVisited } from '../../app/palette/use-visited';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { bytes, plural } from '../../lib/format';
import { ApiError } from '../../lib/problem';
import { useList, useOne, useWrite } from '../../lib/queries';
import type { Host, HostDetail } from '../../lib/types';
import { Badge } from '../../ui/feedback/badge';
import { Button, ButtonLink } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { DeleteButton } from '../../ui/dialogs/delete-button';
import { Dialog, DialogActions } from '../../ui/dialogs/dialog';
import { Empty } from '../../ui/feedback/empty';
import { TextField } from '../../ui/forms/field';
import { LoadError } from '../../ui/lists/list-states';
import { Meter } from '../../ui/feedback/meter';
import { Card, Page } from '../../ui/page';
import { PlainList } from '../../ui/lists/plain-list';
import { ProblemNote } from '../../ui/feedback/problem-note';
import { StateBadge } from '../../ui/feedback/state';
import { NameTd, Cut, Head, Row, Skeleton, SkeletonRows, Table, Td, Th } from '../../ui/lists/table';
import { Age } from '../../ui/time';
import { toast } from '../../ui/feedback/toast';
import { followTask } from '../tasks/open-task';
import { ConditionList } from './condition-list';
import { HostLeftovers } from './host-leftovers';
import { InventoryCards } from './inventory-cards';

const parent = { to: '/hosts', label: 'Hosts' };

export default function HostPage() {
  const { id = '' } = useParams();
  const result = useOne('/hosts/{ref}', id);
  const host = result.data;
  useVisited('host', `/hosts/${id}`, host?.name);
  if (result.error instanceof ApiError && result.error.status === 404)
    return (
      <Page title="Host" parent={parent}>
        <Card>
          <Empty icon={Server} title="There is no such host" action={<ButtonLink to="/hosts">All hosts</ButtonLink>} />
        </Card>
      </Page>
    );
  if (host === undefined)
    return (
      <Page title="Host" parent={parent}>
        <Card className="p-5">
          {result.error !== null ? (
            <LoadError error={result.error} onRetry={() => void result.refetch()} />
          ) : (
            <Skeleton className="h-40" />
          )}
        </Card>
      </Page>
    );
  return <Shown host={host} />;
}

function Shown({ host }: { host: HostDetail }) {
  const navigate = useNavigate();
  const removal = useRemoval('host', (gone: HostDetail) => api.delete('/hosts/{ref}', { path: { ref: gone.id } }), {
    touches: ['hosts'],
    onGone: () => void navigate('/hosts'),
  });
  return (
    <Page
      title={host.name}
      parent={parent}
      aside={
        <>
          <StateBadge state={host.state} />
          {host.breaker !== 'closed' && <Badge tone="warn">breaker {host.breaker}</Badge>}
        </>
      }
      description={
        <>
          <span className="font-mono text-xs">{host.address}</span> ·{' '}
          {host.schedulable ? 'gets new instances' : 'gets no new instances'} ·{' '}
          {host.lastSeenAt === null ? 'never seen' : <Age at={host.lastSeenAt} suffix=" ago" />}
        </>
      }
      actions={
        <>
          <Maintenance host={host} />
          <TestHost host={host} />
          <DeleteButton
            name={host.name}
            reason={host.capacity.instances > 0 ? 'It still has instances.' : null}
            onClick={() => removal.ask(host)}
          />
        </>
      }
    >
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-2">
        <div className="min-w-0 space-y-5">
          <HostCapacity host={host} />
          <Card title="Conditions">
            <ConditionList conditions={host.conditions} />
          </Card>
          <HostInstances host={host} />
          <HostLeftovers host={host} />
        </div>
        <div className="min-w-0 space-y-5">
          {host.inventory === null ? (
            <Card title="Inventory">
              <p className="px-4 py-4 text-sm text-dim">The host has not reported what it has yet.</p>
            </Card>
          ) : (
            <InventoryCards inventory={host.inventory} nodes={host.capacity.nodes} />
          )}
        </div>
      </div>
      <RemovalDialog removal={removal}>
        It may not come back by itself: its certificate ends. What is on its disks stays there.
      </RemovalDialog>
    </Page>
  );
}

function HostCapacity({ host: { capacity: c, inventory } }: { host: HostDetail }) {
  return (
    <Card title="Capacity">
      <div className="space-y-4 p-4">
        <Meter label="vCPUs" used={c.vcpusUsed} total={c.vcpus} show={String} />
        {c.dedicatedCpus > 0 && (
          <Meter label="Dedicated CPUs" used={c.dedicatedCpusUsed} total={c.dedicatedCpus} show={String} />
        )}
        <Meter label="Memory" used={c.memoryBytesUsed} total={c.memoryBytes} show={bytes} />
        {c.hugePages.map(({ size, bytes: total, bytesUsed }) => (
          <Meter key={size} label={`Huge pages of ${size}`} used={bytesUsed} total={total} show={bytes} />
        ))}
        <Meter label="Disk" used={c.diskBytesUsed} total={c.diskBytes} show={bytes} />
        <p className="text-xs text-dim">
          Claimed by instances, of what may be claimed
          {inventory !== null && c.vcpus > inventory.cpu.threads - c.dedicatedCpus && (
            <>
              : {plural(inventory.cpu.threads - c.dedicatedCpus, 'thread')} are given out as {c.vcpus} vCPUs
            </>
          )}
          .
        </p>
      </div>
    </Card>
  );
}

function HostInstances({ host }: { host: Host }) {
  const list = useList('/instances', { query: { host: host.id } });
  return (
    <Card title={`Instances (${host.capacity.instances})`}>
      <PlainList list={list} empty="None runs here.">
        <Table label="Instances on this host">
          <Head>
            <Th>Name</Th>
            <Th>State</Th>
            <Th from="sm">Flavor</Th>
          </Head>
          <tbody>
            {list.isPending && <SkeletonRows columns={3} rows={2} />}
            {list.items.map((i) => (
              <Row key={i.id}>
                <NameTd>
                  <Link
                    to={`/instances/${i.id}`}
                    title={i.name}
                    className="block truncate rounded font-medium hover:underline"
                  >
                    {i.name}
                  </Link>
                </NameTd>
                <Td>
                  <StateBadge state={i.state} />
                </Td>
                <Td from="sm" className="max-w-32 text-dim">
                  <Cut text={i.flavor.name} />
                </Td>
              </Row>
            ))}
          </tbody>
        </Table>
      </PlainList>
    </Card>
  );
}

/** Has the host try its virtual machine monitors anew, with a guest of its own. */
function TestHost({ host }: { host: Host }) {
  const test = useWrite(() => api.post('/hosts/{ref}/actions/test', { path: { ref: host.id } }), {
    touches: ['hosts', 'tasks'],
    onDone: ({ taskId }) => followTask(taskId),
    onError: (error) => toast.bad(`${host.name} is not tested`, error),
  });
  return (
    <Button
      icon={FlaskConical}
      busy={test.isPending}
      hint={vcctl(['host', 'test', host.name])}
      onClick={() => test.mutate()}
    >
      Test
    </Button>
  );
}

/** Takes the host out of scheduling and back. What runs there goes on. */
function Maintenance({ host }: { host: Host }) {
  const on =
    host.state === 'maintenance' ||
    host.state === 'draining' ||
    host.conditions.some((c) => /maintenance/i.test(c.type) && c.status === 'true');
  const [asking, setAsking] = useState(false);
  const [reason, setReason] = useState('');
  const write = useWrite(
    (body: { maintenance: boolean; reason?: string }) => api.patch('/hosts/{ref}', { path: { ref: host.id }, body }),
    {
      touches: ['hosts'],
      onDone: (_, body) => {
        toast.ok(body.maintenance ? `${host.name} is in maintenance` : `${host.name} is back`);
        setAsking(false);
      },
      onError: (error, body) => {
        if (!body.maintenance) toast.bad('Maintenance was not ended', error);
      },
    },
  );
  return (
    <>
      <label className="flex items-center gap-2.5 text-sm">
        Maintenance
        <Switch.Root
          checked={on}
          disabled={write.isPending}
          onCheckedChange={(next) => {
            if (next) {
              write.reset();
              setAsking(true);
            } else write.mutate({ maintenance: false });
          }}
          className="h-5 w-9 rounded-full border border-transparent bg-line-strong p-px transition-colors data-[state=checked]:bg-accent"
        >
          <Switch.Thumb className="block size-4 rounded-full bg-white shadow transition-transform data-[state=checked]:translate-x-4" />
        </Switch.Root>
      </label>
      <Dialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`Maintenance on ${host.name}`}
        description={`No new instance is placed here. ${host.capacity.instances === 0 ? 'Nothing runs on it.' : `${plural(host.capacity.instances, 'instance')} on it ${host.capacity.instances === 1 ? 'goes' : 'go'} on running.`}`}
      >
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (!write.isPending) write.mutate({ maintenance: true, ...(reason === '' ? {} : { reason }) });
          }}
        >
          <TextField
            label="Reason"
            optional
            value={reason}
            onChange={(e) => setReason(e.target.value)}
            placeholder="New memory modules"
            autoFocus
          />
          {write.error !== null && <ProblemNote error={write.error} className="mt-3" />}
          <CommandLine line={vcctl(['host', 'update', host.name], { maintenance: true, reason })} />
          <DialogActions>
            <Button onClick={() => setAsking(false)}>Cancel</Button>
            <Button type="submit" look="primary" busy={write.isPending}>
              Start maintenance
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </>
  );
}
