import { Box, LifeBuoy, Lock, Play, RotateCw, Square } from 'lucide-react';
import { Tabs } from 'radix-ui';
import { useState } from 'react';
import { useParams, useSearchParams } from 'react-router';
import { OnePage } from '../../app/one-page';
import { useVisited } from '../../app/palette/use-visited';
import { useList, useOne } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { Button } from '../../ui/button';
import { cx } from '../../ui/cx';
import { Card, Page } from '../../ui/page';
import { PlainList } from '../../ui/lists/plain-list';
import { StateBadge } from '../../ui/feedback/state';
import { Age } from '../../ui/time';
import { TaskTable } from '../tasks/task-table';
import { DeleteInstances } from './delete-instances';
import EditInstance from './edit-instance';
import InstanceConsole from './instance-console';
import { InstanceGuestData } from './instance-guest-data';
import { InstanceMenu } from './instance-menu';
import { InstanceOverview } from './instance-overview';
import { useInstanceActions } from './use-instance-actions';

const parent = { to: '/instances', label: 'Instances' };

export default function InstancePage() {
  const { id = '' } = useParams();
  const result = useOne('/instances/{ref}', id, { listed: true });
  return (
    <OnePage noun="instance" icon={Box} parent={parent} result={result}>
      {(instance) => <Shown instance={instance} />}
    </OnePage>
  );
}

/** Only what wants attention is coloured: that somebody stopped it does not. */
const reasonLook = (state: string): string =>
  state === 'error' ? 'bg-bad-soft text-bad' : state === 'unknown' ? 'bg-warn-soft text-warn' : 'bg-sunken text-dim';

function LockNote({ lock }: Pick<Instance, 'lock'>) {
  if (lock === null) return null;
  return (
    <p role="status" className="mb-4 flex items-center gap-2 rounded-lg bg-sunken px-3 py-2 text-sm text-dim">
      <Lock aria-hidden className="size-3.5 shrink-0" />
      <span className="min-w-0">
        Locked <Age at={lock.at} suffix=" ago" />
        {lock.reason !== '' && `: ${lock.reason}`}
      </span>
    </p>
  );
}

/** Also of one whose machine is off. */
function RescueNote({ rescue }: Pick<Instance, 'rescue'>) {
  if (rescue === null) return null;
  return (
    <p role="status" className="mb-4 flex items-center gap-2 rounded-lg bg-warn-soft px-3 py-2 text-sm text-warn">
      <LifeBuoy aria-hidden className="size-3.5 shrink-0" />
      <span className="min-w-0">
        In rescue: it boots from a temporary disk of {rescue.image.name}, and its own is the second one
      </span>
    </p>
  );
}

const tabs = [
  ['overview', 'Overview'],
  ['console', 'Console'],
  ['guest-data', 'Guest data'],
  ['tasks', 'Tasks'],
] as const;

function Shown({ instance }: { instance: Instance }) {
  useVisited('instance', `/instances/${instance.id}`, instance.name);
  const [params, setParams] = useSearchParams();
  const tab = params.get('tab') ?? 'overview';
  const { run, reason } = useInstanceActions();
  const [deleting, setDeleting] = useState(false);
  const [editing, setEditing] = useState(false);
  const only = [instance];
  return (
    <Page
      title={instance.name}
      parent={parent}
      aside={<StateBadge state={instance.state} />}
      {...(instance.description === '' ? {} : { description: instance.description })}
      actions={
        <>
          {instance.state === 'stopped' || instance.state === 'error' ? (
            <Button icon={Play} reason={reason(only, 'start')} onClick={() => run(only, 'start')}>
              Start
            </Button>
          ) : instance.state === 'paused' || instance.state === 'suspended' ? (
            <Button icon={Play} reason={reason(only, 'resume')} onClick={() => run(only, 'resume')}>
              Resume
            </Button>
          ) : (
            <Button icon={Square} reason={reason(only, 'stop')} onClick={() => run(only, 'stop')}>
              Stop
            </Button>
          )}
          <Button icon={RotateCw} reason={reason(only, 'reboot')} onClick={() => run(only, 'reboot')}>
            Reboot
          </Button>
          <InstanceMenu instance={instance} onEdit={() => setEditing(true)} onDelete={() => setDeleting(true)} />
        </>
      }
    >
      <LockNote lock={instance.lock} />
      <RescueNote rescue={instance.rescue} />
      {instance.stateReason !== '' && (
        <p role="status" className={cx('mb-4 rounded-lg px-3 py-2 text-sm', reasonLook(instance.state))}>
          {instance.stateReason}
        </p>
      )}
      <Tabs.Root
        value={tab}
        onValueChange={(next) => setParams(next === 'overview' ? {} : { tab: next }, { replace: true })}
      >
        <Tabs.List aria-label="Instance" className="mb-5 flex gap-1 border-b border-line">
          {tabs.map(([key, label]) => (
            <Tabs.Trigger
              key={key}
              value={key}
              className="-mb-px h-9 rounded-t-md border-b-2 border-transparent px-3 text-sm text-dim hover:text-ink data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink"
            >
              {label}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        <Tabs.Content value="overview" className="outline-none">
          <InstanceOverview instance={instance} />
        </Tabs.Content>
        <Tabs.Content value="console" className="outline-none" tabIndex={-1}>
          <InstanceConsole instance={instance} />
        </Tabs.Content>
        <Tabs.Content value="guest-data" className="outline-none">
          <InstanceGuestData instance={instance} />
        </Tabs.Content>
        <Tabs.Content value="tasks" className="outline-none">
          <InstanceTasks id={instance.id} />
        </Tabs.Content>
      </Tabs.Root>
      <EditInstance instance={editing ? instance : null} onClose={() => setEditing(false)} />
      <DeleteInstances
        instances={deleting ? only : []}
        onClose={() => setDeleting(false)}
        onDone={() => setDeleting(false)}
      />
    </Page>
  );
}

function InstanceTasks({ id }: { id: string }) {
  const tasks = useList('/tasks', { query: { subject: id } });
  return (
    <Card>
      <PlainList list={tasks} empty="No task has worked on it yet.">
        <TaskTable tasks={tasks.items} loading={tasks.isPending} hideSubject />
      </PlainList>
    </Card>
  );
}
