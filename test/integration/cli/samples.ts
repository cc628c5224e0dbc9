/** Objects as REST answers them, with fixed times, for what the client makes of them. */
export const ids = {
  instance: '0198b0f4-1111-7000-8000-000000000001',
  other: '0198b0f4-1112-7000-8000-000000000002',
  project: '0198b0f4-2222-7000-8000-000000000003',
  network: '0198b0f4-3333-7000-8000-000000000004',
  host: '0198b0f4-4444-7000-8000-000000000005',
  image: '0198b0f4-5555-7000-8000-000000000006',
  flavor: '0198b0f4-6666-7000-8000-000000000007',
  task: '0198b0f4-7777-7000-8000-000000000008',
  port: '0198b0f4-8888-7000-8000-000000000009',
  volume: '0198b0f4-9999-7000-8000-00000000000a',
} as const;

const at = '2020-01-01T00:00:00.000Z';

export const instance = {
  id: ids.instance,
  projectId: ids.project,
  name: 'Web Server!',
  hostname: 'web-server',
  description: '',
  state: 'running',
  stateReason: '',
  flavor: { id: ids.flavor, name: 'tiny', vcpus: 1, memoryBytes: 268_435_456, diskBytes: 0 },
  image: { id: ids.image, name: 'debian' },
  host: { id: ids.host, name: 'h1' },
  ports: [{ id: ids.port, networkId: ids.network, network: 'n1', mac: '52:54:00:00:00:01', address: '10.10.0.2' }],
  sshKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIwq anna@laptop'],
  stopGraceSeconds: 30,
  configDrive: null,
  vmm: 'qemu',
  taskId: null,
  createdAt: at,
  startedAt: null,
  observedAt: at,
};
export const stopped = { ...instance, id: ids.other, name: 'db', hostname: 'db', state: 'stopped', ports: [], flavor: { ...instance.flavor, name: 'large', vcpus: 8, memoryBytes: 17_179_869_184 } };

export const flavor = { id: ids.flavor, name: 'tiny', description: '', vcpus: 1, memoryBytes: 268_435_456, diskBytes: 0, vendorData: null, createdAt: at };

export const host = {
  id: ids.host,
  name: 'h1',
  address: '192.0.2.10',
  state: 'degraded',
  schedulable: false,
  conditions: [
    { type: 'Vmm', status: 'true', reason: 'usable', message: 'qemu 10.0 with tcg', since: at },
    { type: 'Cgroup', status: 'false', reason: 'missing', message: 'no memory controller', since: at },
  ],
  breaker: 'closed',
  lastSeenAt: at,
  capacity: { vcpus: 8, vcpusUsed: 1, memoryBytes: 8_589_934_592, memoryBytesUsed: 268_435_456, diskBytes: 107_374_182_400, diskBytesUsed: 0, instances: 1 },
  createdAt: at,
  inventory: {
    hostname: 'h1',
    kernel: '6.1.0',
    architecture: 'x86_64',
    cpu: { model: 'AMD EPYC', flags: ['sse'], threads: 2, numaNodes: 1 },
    memory: { totalBytes: 8_589_934_592, hugepages: [] },
    disks: [{ name: 'vda', sizeBytes: 107_374_182_400, model: '', rotational: false }],
    nics: [{ name: 'eth0', mac: '52:54:00:00:00:02', mtu: 1500, speedMbit: null, up: true }],
    pools: [{ name: 'local', driver: 'local', totalBytes: 107_374_182_400, freeBytes: 53_687_091_200 }],
    vmms: [{ kind: 'qemu', version: '10.0', accel: 'tcg', usable: true, reason: 'software emulation', capabilities: [] }],
    agentVersion: '0.1.0',
  },
};

export const task = (state: string, error: object | null = null): object => ({
  id: ids.task,
  type: 'compute.stop-instance',
  state,
  projectId: ids.project,
  subject: { kind: 'instance', id: ids.instance, name: 'web' },
  progress: 100,
  step: null,
  stepTitle: null,
  error,
  createdBy: 'admin',
  requestId: 'r-task',
  parentId: null,
  children: 0,
  createdAt: at,
  startedAt: at,
  endedAt: at,
  durationMs: 1000,
  waiting: null,
  cancel: null,
  steps: [],
  audit: [],
  parent: null,
  childTasks: [],
});
