import { ChevronRight } from 'lucide-react';
import { useScope } from '../../app/scope';
import { bytes, dateTime, plural } from '../../lib/format';
import { useList } from '../../lib/queries';
import type { Instance } from '../../lib/types';
import { Copyable } from '../../ui/copy';
import { Card, Facts } from '../../ui/page';
import { PlainList } from '../../ui/lists/plain-list';
import { hardwareFacts } from '../../app/hardware-words';
import { limitFacts } from '../../app/limit-words';
import { StateBadge } from '../../ui/feedback/state';
import { Ref } from '../../ui/ref';
import { Age } from '../../ui/time';
import { InstanceCoreDumps } from './instance-core-dumps';
import { InstanceMemoryCard } from './instance-memory';
import { InstancePorts } from './instance-ports';
import { InstanceVolumes } from './instance-volumes';
import { openTask } from '../tasks/open-task';
import { taskVerb } from '../tasks/task-words';

/** What becomes of a machine whose watchdog fired, or whose guest panicked. */
const afterwards = { restart: 'it is restarted', stop: 'it is stopped', notify: 'it goes on, and it is told' } as const;

export function InstanceOverview({ instance: i }: { instance: Instance }) {
  const { manages } = useScope();
  return (
    <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="space-y-5">
        <InstanceFacts instance={i} />
        {i.machine.balloon && i.state === 'running' && <InstanceMemoryCard instance={i} />}
        <InstancePorts instance={i} />
        <InstanceVolumes instance={i} />
        {manages(i.projectId) && i.state !== 'building' && <InstanceCoreDumps instance={i} />}
      </div>
      <Timeline id={i.id} />
    </div>
  );
}

/** What was asked of its machine. */
const machineFacts = ({ machine, shares }: Instance): ([string, string] | null)[] => [
  machine.watchdog === null ? null : ['When its watchdog fires', afterwards[machine.watchdog]],
  machine.panic === null ? null : ['When its guest panics', afterwards[machine.panic]],
  machine.secureBoot ? ['Secure Boot', 'yes, only what is signed starts'] : null,
  machine.tpm ? ['TPM', '2.0'] : null,
  machine.balloon ? ['Balloon', 'yes'] : null,
  machine.vsock ? ['Vsock', 'yes, its guest is reached without a network'] : null,
  shares.length === 0
    ? null
    : ['Shares', shares.map(({ share, readonly }) => (readonly ? `${share} (read-only)` : share)).join(', ')],
];

function InstanceFacts({ instance: i }: { instance: Instance }) {
  const { admin, projectName } = useScope();
  return (
    <Card title="Facts">
      <Facts
        items={[
          ['Flavor', sizeOf(i)],
          maximumOf(i),
          ...limitFacts(i.flavor.limits),
          ...hardwareFacts(i.flavor.hardware),
          ['Hostname', <Copyable key="hostname" text={i.hostname} label="Copy hostname" />],
          [
            'Image',
            <Ref key="image" to={`/images?q=${i.image.id}`}>
              {i.image.name}
            </Ref>,
          ],
          // Only administrators see hosts.
          admin
            ? [
                'Host',
                i.host === null ? (
                  'not placed'
                ) : (
                  <Ref key="host" to={`/hosts/${i.host.id}`}>
                    {i.host.name}
                  </Ref>
                ),
              ]
            : null,
          i.dedicatedCpus === null ? null : ['Dedicated CPUs', i.dedicatedCpus.join(', ')],
          [
            'Runs since',
            i.startedAt === null ? (
              '–'
            ) : (
              <>
                <Age at={i.startedAt} suffix=" ago" />, {dateTime(i.startedAt)}
              </>
            ),
          ],
          i.lastExit === null ? null : ['Last end', <LastEnd key="end" exit={i.lastExit} />],
          ['VMM', i.vmm ?? '–'],
          i.wantedVmm === null ? null : ['VMM asked for', i.wantedVmm],
          ['Stops', i.stopGraceSeconds === 0 ? 'at once' : `when the guest did, or after ${i.stopGraceSeconds} s`],
          i.restartPolicy === 'never' ? null : ['After a failure', 'started again by its host, a few times'],
          i.configDrive === null
            ? null
            : ['Config drive', i.configDrive === 'openstack' ? 'OpenStack (config-2)' : 'NoCloud (cidata)'],
          ...machineFacts(i),
          i.tags.length === 0
            ? null
            : [
                'Tags',
                <span key="tags" className="flex flex-wrap gap-x-2">
                  {i.tags.map((tag) => (
                    <Ref key={tag} to={`/instances?tag=${encodeURIComponent(tag)}`}>
                      {tag}
                    </Ref>
                  ))}
                </span>,
              ],
          ...Object.entries(i.metadata).map(([key, value]): [string, string] => [`Meta ${key}`, value]),
          i.protected ? ['Protected', 'yes, deleting it is refused'] : null,
          ['SSH keys', i.sshKeys.length === 0 ? 'none' : i.sshKeys.join(', ')],
          [
            'Project',
            <Ref key="project" to={`/projects/${i.projectId}`}>
              {projectName(i.projectId)}
            </Ref>,
          ],
          ['Created', dateTime(i.createdAt)],
          // A host that is heard says at once when something changes: only its silence makes the last report worth
          // knowing.
          i.state === 'unknown'
            ? ['Last report', i.observedAt === null ? 'none yet' : <Age at={i.observedAt} suffix=" ago" />]
            : null,
          ['Id', <Copyable key="id" text={i.id} label="Copy id" />],
        ]}
      />
    </Card>
  );
}

const sizeOf = ({ flavor }: Instance): string =>
  `${flavor.name} · ${plural(flavor.vcpus, 'vCPU')}, ${bytes(flavor.memoryBytes)} memory, ${flavor.diskBytes === 0 ? 'disk as large as the image' : `${bytes(flavor.diskBytes)} disk`}`;

/** What it may get while it runs. */
const maximumOf = ({ maxVcpus, maxMemoryBytes }: Instance): [string, string] | null => {
  const most = [
    ...(maxVcpus === null ? [] : [plural(maxVcpus, 'vCPU')]),
    ...(maxMemoryBytes === null ? [] : [`${bytes(maxMemoryBytes)} memory`]),
  ];
  return most.length === 0 ? null : ['May grow to', most.join(', ')];
};

function LastEnd({ exit: { reason, code, signal, at } }: { exit: NonNullable<Instance['lastExit']> }) {
  const how = signal ?? (code === null ? null : `exit code ${code}`);
  return (
    <>
      {reason}
      {how === null ? '' : ` (${how})`}, <Age at={at} suffix=" ago" />
    </>
  );
}

/** What happened to it, newest first. */
function Timeline({ id }: { id: string }) {
  const tasks = useList('/tasks', { query: { subject: id, limit: 12 } });
  return (
    <Card title="Timeline">
      <PlainList list={tasks} empty="No task has worked on it yet.">
        <ol className="py-1.5">
          {tasks.items.map((task) => (
            <li key={task.id}>
              <button
                type="button"
                onClick={() => openTask(task.id)}
                className="flex w-full items-center gap-3 px-4 py-2 text-left text-sm hover:bg-sunken"
              >
                <span className="min-w-0 flex-1">
                  <span className="block truncate">{taskVerb(task)}</span>
                  <span className="block truncate text-xs text-dim" title={task.error?.message}>
                    {task.error !== null ? task.error.reason : <Age at={task.createdAt} suffix=" ago" />}
                  </span>
                </span>
                <StateBadge state={task.state} kind="task" />
                <ChevronRight aria-hidden className="size-3.5 shrink-0 text-dim" />
              </button>
            </li>
          ))}
        </ol>
      </PlainList>
    </Card>
  );
}
