import { randomUUID } from 'node:crypto';
import type {
  Flavor,
  Host,
  HostDetail,
  Image,
  Instance,
  Member,
  Network,
  Port,
  Project,
  SshKey,
  Task,
  TaskDetail,
  TaskStep,
  User,
  Volume,
  ApiToken,
} from '../src/lib/types.ts';

/** What the made-up clouds of the console's development are put together from. */
export const gib = 1024 ** 3;
export const mib = 1024 ** 2;
export const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();
export const long = 'reporting-warehouse-nightly-aggregation-worker-eu-central-1b-07';

export interface World {
  me: User;
  role: 'admin' | 'member' | 'viewer';
  projects: Project[];
  members: Member[];
  users: User[];
  flavors: Flavor[];
  sshKeys: SshKey[];
  images: Image[];
  networks: Network[];
  ports: Port[];
  volumes: Volume[];
  hosts: HostDetail[];
  instances: Instance[];
  tasks: TaskDetail[];
  apiTokens: ApiToken[];
}

export const user = (name: string, admin: boolean): User => ({
  id: randomUUID(),
  name,
  admin,
  enabled: true,
  createdAt: ago(86_400 * 40),
});
export const project = (name: string, description = ''): Project => ({
  id: randomUUID(),
  name,
  description,
  createdAt: ago(86_400 * 30),
});

export const host = (name: string, address: string, over: Partial<Host> = {}, used = 0.4): HostDetail => ({
  id: randomUUID(),
  name,
  address,
  state: 'ready',
  schedulable: true,
  conditions: [
    {
      type: 'Reachable',
      status: 'true',
      reason: 'Heartbeat',
      message: 'Its heartbeat arrives.',
      since: ago(86_400 * 3),
    },
    {
      type: 'VmmUsable',
      status: 'true',
      reason: 'SmokeInstance',
      message: 'A smoke instance ran on cloud-hypervisor and qemu.',
      since: ago(86_400 * 3),
    },
    {
      type: 'Maintenance',
      status: 'false',
      reason: 'NotAsked',
      message: 'Nobody asked for maintenance.',
      since: ago(86_400 * 3),
    },
  ],
  breaker: 'closed',
  lastSeenAt: ago(3),
  capacity: {
    vcpus: 64,
    vcpusUsed: Math.round(64 * used),
    memoryBytes: 256 * gib,
    memoryBytesUsed: Math.round(256 * used) * gib,
    diskBytes: 3726 * gib,
    diskBytesUsed: Math.round(3726 * used * 0.6) * gib,
    pools: [{ name: 'default', bytes: 3726 * gib, bytesUsed: Math.round(3726 * used * 0.6) * gib }],
    instances: Math.round(20 * used),
  },
  createdAt: ago(86_400 * 20),
  inventory: {
    hostname: name,
    kernel: '6.1.0-28-amd64',
    architecture: 'x86_64',
    cpu: { model: 'AMD EPYC 7543P 32-Core Processor', flags: ['svm', 'avx2'], threads: 64, numaNodes: 2 },
    memory: { totalBytes: 256 * gib, hugepages: [{ sizeBytes: 2 * mib, total: 0, free: 0 }] },
    disks: [
      { name: 'nvme0n1', sizeBytes: 1863 * gib, model: 'SAMSUNG MZQL21T9HCJR-00A07', rotational: false },
      { name: 'nvme1n1', sizeBytes: 1863 * gib, model: 'SAMSUNG MZQL21T9HCJR-00A07', rotational: false },
    ],
    nics: [
      { name: 'enp65s0f0', mac: '0c:42:a1:5e:90:1a', mtu: 9000, speedMbit: 25_000, up: true },
      { name: 'enp65s0f1', mac: '0c:42:a1:5e:90:1b', mtu: 1500, speedMbit: null, up: false },
    ],
    pools: [{ name: 'local', driver: 'local', totalBytes: 3726 * gib, freeBytes: 2800 * gib }],
    vmms: [
      { kind: 'cloud-hypervisor', version: '48.0', accel: 'kvm', usable: true, reason: '', capabilities: ['serial'] },
      {
        kind: 'qemu',
        version: '7.2.15',
        accel: 'tcg',
        usable: false,
        reason: '/dev/kvm opens, but no guest boots on it within 10 s.',
        capabilities: [],
      },
    ],
    agentVersion: '0.1.0',
  },
  ...over,
});

export const step = (name: string, title: string, over: Partial<TaskStep> = {}): TaskStep => ({
  name,
  title,
  phase: 'run',
  state: 'pending',
  attempt: 1,
  host: null,
  progress: null,
  message: null,
  startedAt: null,
  endedAt: null,
  durationMs: null,
  nextTryAt: null,
  error: null,
  ...over,
});

export const createSteps = (h: Host): TaskStep[] => {
  const on = { id: h.id, name: h.name };
  return [
    step('claim-host', 'Choose a host'),
    step('allocate-ports', 'Allocate addresses'),
    step('fetch-image', 'Fetch the image', { host: on }),
    step('create-root-volume', 'Create the root disk', { host: on }),
    step('apply-network', 'Set up the network', { host: on }),
    step('seed', 'Write the seed', { host: on }),
    step('start-vmm', 'Start the machine', { host: on }),
    step('mark-running', 'Record that it runs'),
  ];
};

export const task = (
  type: string,
  subject: Task['subject'],
  projectId: string | null,
  steps: TaskStep[],
  over: Partial<TaskDetail> = {},
): TaskDetail => ({
  id: randomUUID(),
  type,
  state: 'queued',
  projectId,
  subject,
  progress: 0,
  step: null,
  stepTitle: null,
  error: null,
  createdBy: 'admin',
  requestId: randomUUID(),
  parentId: null,
  children: 0,
  createdAt: ago(0),
  startedAt: null,
  endedAt: null,
  durationMs: null,
  waiting: null,
  cancel: null,
  irrevocable: null,
  audit: [],
  parent: null,
  childTasks: [],
  steps,
  ...over,
});

export const finished = (steps: TaskStep[], from: number): TaskStep[] =>
  steps.map((s, i) => ({
    ...s,
    state: 'succeeded',
    startedAt: new Date(from + i * 310).toISOString(),
    endedAt: new Date(from + i * 310 + 120 + i * 40).toISOString(),
  }));
