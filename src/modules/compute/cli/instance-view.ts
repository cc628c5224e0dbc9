import type { CliColumn, Tone } from '../../../core/cli/output/cli-column';
import { formatBytes, formatTime, moment } from '../../../core/cli/output/format';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { GuestData, Instance } from '../contract/compute.api';
import type { InstanceState } from '../contract/instance-states';
import { hardwareFacts } from './hardware-options';
import { limitFacts } from './limit-options';

const tones: Record<InstanceState, Tone> = {
  building: 'busy',
  running: 'good',
  paused: undefined,
  suspended: undefined,
  rescued: 'busy',
  starting: 'busy',
  stopping: 'busy',
  rebooting: 'busy',
  pausing: 'busy',
  suspending: 'busy',
  resuming: 'busy',
  resizing: 'busy',
  rebuilding: 'busy',
  rescuing: 'busy',
  unrescuing: 'busy',
  stopped: undefined,
  deleting: 'busy',
  unknown: 'busy',
  error: 'bad',
};
/** For `--state`. */
export const instanceStateNames = Object.keys(tones);

/** What keeps verbs from it: `locked`, `protected`. */
const guards = (i: Instance): string =>
  [...(i.lock ? ['locked'] : []), ...(i.protected ? ['protected'] : [])].join(', ');

export const instanceColumns: CliColumn<Instance>[] = [
  { header: 'name', value: (i) => i.name },
  { header: 'state', value: (i) => i.state, tone: (i) => tones[i.state] },
  { header: 'address', value: (i) => i.ports.map((p) => p.address).join(', '), whole: true },
  { header: 'flavor', value: (i) => i.flavor.name },
  { header: 'image', value: (i) => i.image.name },
  { header: 'host', value: (i) => i.host?.name ?? '' },
  { header: 'created', value: (i) => formatTime(i.createdAt), raw: (i) => i.createdAt },
  { header: 'vcpus', value: (i) => String(i.flavor.vcpus), raw: (i) => i.flavor.vcpus, wide: true },
  { header: 'memory', value: (i) => formatBytes(i.flavor.memoryBytes), raw: (i) => i.flavor.memoryBytes, wide: true },
  { header: 'hostname', value: (i) => i.hostname, wide: true },
  { header: 'vmm', value: (i) => i.vmm ?? '', wide: true },
  { header: 'tags', value: (i) => i.tags.join(', '), wide: true },
  { header: 'guard', value: guards, wide: true },
  { header: 'reason', value: (i) => i.stateReason, wide: true },
  { header: 'id', value: (i) => i.id, wide: true, whole: true },
];

/** `ssh-ed25519 AAAA… anna@laptop` → `anna@laptop (ssh-ed25519)`. */
const keyLabel = (key: string): string => {
  const [type = '', data, ...comment] = key.split(' ');
  return data === undefined
    ? key
    : comment.length > 0
      ? `${comment.join(' ')} (${type})`
      : `${type} …${data.slice(-12)}`;
};

const sizeOf = ({ flavor }: Instance): string =>
  `${flavor.name} (${flavor.vcpus} vCPU${flavor.vcpus === 1 ? '' : 's'}, ${formatBytes(flavor.memoryBytes)}, root disk ${flavor.diskBytes === 0 ? 'as large as the image' : formatBytes(flavor.diskBytes)})`;

/** What it may get while it runs. */
const maximumOf = ({ maxVcpus, maxMemoryBytes }: Instance): ReturnType<typeof fact>[] => {
  const most = [
    ...(maxVcpus === null ? [] : [`${maxVcpus} vCPUs`]),
    ...(maxMemoryBytes === null ? [] : [formatBytes(maxMemoryBytes)]),
  ];
  return most.length === 0 ? [] : [fact('May grow to', most.join(', '))];
};

const shareInWords = ({ share, readonly }: Instance['shares'][number]): string =>
  readonly ? `${share} (read-only)` : share;

const endInWords = ({ reason, code, signal, at }: NonNullable<Instance['lastExit']>): string => {
  const how = signal ?? (code === null ? '' : `exit code ${code}`);
  return `${reason}${how === '' ? '' : ` (${how})`}, ${moment(at)}`;
};

/** An instance as people read it. `project` is its project's name, where it is known. */
export const instanceView =
  (project?: string) =>
  (i: Instance): Section[] => [
    {
      facts: [
        fact('Name', i.name),
        fact('Hostname', i.hostname),
        fact('State', i.stateReason === '' ? i.state : `${i.state}: ${i.stateReason}`, tones[i.state]),
        ...(i.description === '' ? [] : [fact('Description', i.description)]),
        fact('Flavor', sizeOf(i)),
        ...maximumOf(i),
        fact('Image', i.image.name),
        ...(i.rescue ? [fact('Rescue', `boots from a temporary disk of ${i.rescue.image.name}`)] : []),
        fact('Host', i.host ? `${i.host.name}${i.vmm === null ? '' : ` (${i.vmm})`}` : 'not chosen yet'),
        ...(i.dedicatedCpus ? [fact('Dedicated CPUs', i.dedicatedCpus.join(', '))] : []),
        ...limitFacts(i.flavor.limits),
        ...hardwareFacts(i.flavor.hardware),
        fact('SSH keys', i.sshKeys.map(keyLabel).join(', ') || 'none'),
        ...(i.configDrive ? [fact('Config drive', i.configDrive)] : []),
        ...(i.machine.secureBoot ? [fact('Secure Boot', 'yes')] : []),
        ...(i.machine.tpm ? [fact('TPM', '2.0')] : []),
        ...(i.machine.balloon ? [fact('Balloon', 'yes, memory that its guest does not need goes to its host')] : []),
        ...(i.machine.vsock ? [fact('Vsock', 'yes, its guest is reached without a network')] : []),
        ...(i.shares.length === 0 ? [] : [fact('Shares', i.shares.map(shareInWords).join(', '))]),
        ...(i.machine.watchdog === null ? [] : [fact('Watchdog', i.machine.watchdog)]),
        ...(i.machine.panic === null ? [] : [fact('At a panic', i.machine.panic)]),
        ...(i.wantedVmm === null ? [] : [fact('VMM asked for', i.wantedVmm)]),
        ...(i.tags.length === 0 ? [] : [fact('Tags', i.tags.join(', '))]),
        ...Object.entries(i.metadata).map(([key, value]) => fact(`Meta ${key}`, value)),
        ...(i.protected ? [fact('Protected', 'yes, deleting it is refused')] : []),
        ...(i.lock
          ? [fact('Locked', `since ${moment(i.lock.at)}${i.lock.reason === '' ? '' : `: ${i.lock.reason}`}`)]
          : []),
        fact('Stop grace', `${i.stopGraceSeconds} s`),
        ...(i.restartPolicy === 'never' ? [] : [fact('Restart policy', i.restartPolicy)]),
        ...(project === undefined ? [] : [fact('Project', project)]),
        ...(i.taskId === null ? [] : [fact('Task', i.taskId)]),
        fact('Created', moment(i.createdAt)),
        fact('Started', moment(i.startedAt)),
        ...(i.lastExit === null ? [] : [fact('Last end', endInWords(i.lastExit))]),
        fact('Id', i.id),
      ],
    },
    {
      title: 'Addresses',
      headers: ['network', 'address', 'mac'],
      rows: i.ports.map((p) => [p.network, p.address, p.mac]),
      none: 'none yet',
    },
  ];

/** JSON on several lines; anything else as it is. */
const readable = ({ path, text }: GuestData['files'][number]): string =>
  text === null ? 'This is no text.' : path.endsWith('.json') ? JSON.stringify(JSON.parse(text), null, 2) : text;

/** What the guest of an instance reads, file by file. */
export const guestDataView = (data: GuestData): Section[] => [
  { facts: [fact('Hostname', data.hostname)] },
  ...data.files.map((file) => ({
    title: `${file.path} (${formatBytes(file.bytes)})`,
    facts: readable(file)
      .split('\n')
      .map((value) => ({ label: '', value })),
  })),
];
