import { Box, Disc3, HardDrive, Network as NetworkIcon, Plus, type LucideIcon } from 'lucide-react';
import { Link } from 'react-router';
import { useScope } from '../../app/scope';
import { bytes } from '../../lib/format';
import { useList, type List } from '../../lib/queries';
import type { Host, Task } from '../../lib/types';
import { Button, ButtonLink } from '../../ui/button';
import { Meter } from '../../ui/feedback/meter';
import { LoadError } from '../../ui/lists/list-states';
import { Card, Page } from '../../ui/page';
import { Skeleton } from '../../ui/lists/table';
import { TaskTable } from '../tasks/task-table';
import { NextSteps, type NextStep } from './next-steps';

const most = 500;

/** All that the overview tells of, as far as each is needed. */
const useOverview = () => {
  const scope = useScope();
  const page = { ...scope.query, limit: most };
  const instances = useList('/instances', { query: page });
  const images = useList('/images', { query: page });
  const networks = useList('/networks', { query: page });
  const volumes = useList('/volumes', { query: page });
  // Only the first steps tell of these.
  const first = instances.isSuccess && instances.items.length === 0;
  const keys = useList('/ssh-keys', { query: page, enabled: first });
  const flavors = useList('/flavors', { query: { limit: most }, enabled: first });
  const hosts = useList('/hosts', { query: { limit: most }, enabled: scope.admin });
  const tasks = useList('/tasks', { query: { ...scope.query, system: 'false', limit: 8 } });

  return { instances, images, networks, volumes, keys, flavors, hosts, tasks };
};

type Lists = ReturnType<typeof useOverview>;

export function OverviewPage() {
  const scope = useScope();
  const lists = useOverview();
  return (
    <Page
      title="Overview"
      description={scope.project === null ? 'All projects' : `Project ${scope.project.name}`}
      actions={
        scope.readOnly === null ? (
          <ButtonLink to="/instances/new" look="primary" icon={Plus}>
            New instance
          </ButtonLink>
        ) : (
          <Button look="primary" icon={Plus} reason={scope.readOnly}>
            New instance
          </Button>
        )
      }
    >
      <FirstSteps lists={lists} />
      <Counts lists={lists} />
      <div
        className={`mt-5 grid grid-cols-1 items-start gap-5 ${scope.admin ? 'lg:grid-cols-[minmax(0,1fr)_20rem]' : ''}`}
      >
        <RecentTasks tasks={lists.tasks} />
        {scope.admin && <Capacity list={lists.hosts} />}
      </div>
    </Page>
  );
}

/** What is to be done until the first instance runs; nothing where there is one, or it is not known yet. */
function FirstSteps({ lists: { instances, images, networks, keys, flavors, hosts } }: { lists: Lists }) {
  const scope = useScope();
  const known = [instances, images, networks, keys, flavors, ...(scope.admin ? [hosts] : [])].every((l) => l.isSuccess);
  const steps: NextStep[] = [
    ...(scope.admin
      ? [
          {
            done: hosts.items.some((h) => h.schedulable),
            title: 'Add a host',
            text: 'A Linux machine that runs the instances.',
            to: '/hosts?new=1',
          },
        ]
      : []),
    {
      done: flavors.items.length > 0,
      title: 'Create a flavor',
      text: scope.admin ? 'A size: processors, memory, disk.' : 'An administrator does this.',
      ...(scope.admin ? { to: '/flavors?new=1' } : {}),
    },
    {
      done: images.items.some((i) => i.state === 'ready'),
      title: 'Add an image',
      text: 'Upload a disk image, or import it from an address. On a Debian machine, bin/debian-image of this project makes one.',
      to: '/images?new=1',
    },
    {
      done: networks.items.length > 0,
      title: 'Create a network',
      text: 'Where instances get their addresses.',
      to: '/networks?new=1',
    },
    { done: keys.items.length > 0, title: 'Add your SSH key', text: 'So that you can log in.', to: '/ssh-keys?new=1' },
    {
      done: instances.items.length > 0,
      title: 'Create the first instance',
      text: 'Seconds later it runs, with its console here.',
      to: '/instances/new',
    },
  ];
  return known && instances.items.length === 0 && scope.readOnly === null ? <NextSteps steps={steps} /> : null;
}

function Counts({ lists: { instances, images, networks, volumes } }: { lists: Lists }) {
  const running = instances.items.filter((i) => i.state === 'running').length;
  // Of a list that goes on, what is known is the least that there is.
  const plus = ({ hasNextPage }: { hasNextPage: boolean }): string => (hasNextPage ? '+' : '');
  const trouble = instances.items.filter((i) => i.state === 'error' || i.state === 'unknown').length;

  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Count
        icon={Box}
        label="Instances"
        to="/instances"
        list={instances}
        note={
          instances.items.length === 0
            ? 'none yet'
            : `${running}${plus(instances)} running${trouble > 0 ? `, ${trouble}${plus(instances)} need attention` : ''}`
        }
        alert={trouble > 0}
      />
      <Count
        icon={Disc3}
        label="Images"
        to="/images"
        list={images}
        note={`${images.items.filter((i) => i.state === 'ready').length}${plus(images)} ready`}
      />
      <Count
        icon={NetworkIcon}
        label="Networks"
        to="/networks"
        list={networks}
        note={`${networks.items.reduce((n, x) => n + x.addresses.used, 0)}${plus(networks)} addresses used`}
      />
      <Count
        icon={HardDrive}
        label="Volumes"
        to="/volumes"
        list={volumes}
        note={`${bytes(volumes.items.reduce((n, v) => n + v.bytes, 0))}${plus(volumes)}`}
      />
    </div>
  );
}

function RecentTasks({ tasks }: { tasks: List<Task> }) {
  return (
    <Card title="Recent tasks" action={<MoreLink to="/tasks" />}>
      {tasks.error !== null && tasks.items.length === 0 ? (
        <LoadError error={tasks.error} onRetry={() => void tasks.refetch()} />
      ) : tasks.isSuccess && tasks.items.length === 0 ? (
        <p className="px-4 py-6 text-sm text-dim">Nothing has been asked for yet.</p>
      ) : (
        <TaskTable tasks={tasks.items} loading={tasks.isPending} />
      )}
    </Card>
  );
}

const MoreLink = ({ to }: { to: string }) => (
  <Link to={to} className="rounded text-xs text-dim hover:text-ink hover:underline">
    Show all
  </Link>
);

function Count({
  icon: Icon,
  label,
  to,
  list,
  note,
  alert = false,
}: {
  icon: LucideIcon;
  label: string;
  to: string;
  list: { items: unknown[]; isPending: boolean; hasNextPage: boolean; error: Error | null };
  note: string;
  alert?: boolean;
}) {
  const failed = list.error !== null && list.items.length === 0;
  return (
    <Link to={to} className="rounded-xl border border-line bg-raised p-4 transition-colors hover:border-line-strong">
      <span className="flex items-center gap-2 text-sm text-dim">
        <Icon aria-hidden className="size-4" />
        {label}
      </span>
      {list.isPending ? (
        <Skeleton className="mt-2 h-8 w-12" />
      ) : (
        <span className="nums mt-1 block text-2xl font-semibold tracking-tight">
          {failed ? '–' : list.items.length}
          {list.hasNextPage && '+'}
        </span>
      )}
      <span className={`nums block truncate text-xs ${failed ? 'text-bad' : alert ? 'text-warn' : 'text-dim'}`}>
        {failed ? 'could not be loaded' : list.isPending ? ' ' : note}
      </span>
    </Link>
  );
}

function Capacity({ list }: { list: List<Host> }) {
  const hosts = list.items;
  const ready = hosts.filter((h) => h.schedulable);
  const sum = (pick: (c: Host['capacity']) => number): number => ready.reduce((n, h) => n + pick(h.capacity), 0);
  return (
    <Card title="Capacity" action={<MoreLink to="/hosts" />}>
      {list.error !== null && hosts.length === 0 ? (
        <LoadError error={list.error} onRetry={() => void list.refetch()} />
      ) : list.isPending ? (
        <div className="space-y-4 p-4">
          <Skeleton className="h-6" />
          <Skeleton className="h-6" />
        </div>
      ) : hosts.length === 0 ? (
        <p className="px-4 py-6 text-sm text-dim">
          No host yet.{' '}
          <Link to="/hosts?new=1" className="font-medium text-accent-text hover:underline">
            Add one
          </Link>
        </p>
      ) : (
        <div className="space-y-4 p-4">
          <Meter label="vCPUs" used={sum((c) => c.vcpusUsed)} total={sum((c) => c.vcpus)} show={String} />
          <Meter label="Memory" used={sum((c) => c.memoryBytesUsed)} total={sum((c) => c.memoryBytes)} show={bytes} />
          <Meter label="Disk" used={sum((c) => c.diskBytesUsed)} total={sum((c) => c.diskBytes)} show={bytes} />
          <p className="nums text-xs text-dim">
            {ready.length} of {list.hasNextPage && 'the first '}
            {hosts.length} {hosts.length === 1 ? 'host' : 'hosts'} ready for new instances
          </p>
        </div>
      )}
    </Card>
  );
}
