import { randomUUID } from 'node:crypto';
import type {
  Flavor,
  Host,
  Image,
  Instance,
  Network,
  Port,
  SshKey,
  Task,
  TaskStep,
  User,
  Volume,
} from '../src/lib/types.ts';
import {
  gib,
  mib,
  ago,
  long,
  type World,
  user,
  project,
  host,
  step,
  createSteps,
  task,
  finished,
} from './fake-parts.mts';

/** A cloud in use, with the awkward cases: longest names, failures, a silent host. */
export const busyWorld = (me: User, role: World['role']): World => {
  const projects = [
    project('default', 'Made with the cloud'),
    project('shop', 'Web shop and its workers'),
    project(long, 'A project with the longest name there can be'),
  ];
  const p = projects[0]?.id ?? '';
  const shop = projects[1]?.id ?? '';
  const flavors: Flavor[] = [
    ['tiny', 1, 256 * mib, 0, ''],
    ['small', 1, 2 * gib, 10 * gib, 'For services that wait'],
    ['medium', 2, 4 * gib, 20 * gib, ''],
    ['large', 8, 32 * gib, 100 * gib, 'Databases'],
    ['memory-optimised-extra-large-with-local-scratch-space-2026-edition', 32, 1536 * gib, 2048 * gib, ''],
  ].map(
    ([name, vcpus, memoryBytes, diskBytes, description]) =>
      ({
        id: randomUUID(),
        name,
        vcpus,
        memoryBytes,
        diskBytes,
        description,
        vendorData: null,
        vmm: null,
        createdAt: ago(86_400 * 12),
      }) as Flavor,
  );
  const hosts = [
    host('hv-01', '10.0.4.11', {}, 0.62),
    host('hv-02', '10.0.4.12', {}, 0.9),
    host(
      'hv-03-rack-b.datacentre-frankfurt.example.internal',
      '10.0.4.13',
      { state: 'unknown', schedulable: false, breaker: 'open', lastSeenAt: ago(340) },
      0.2,
    ),
    host('hv-04', '10.0.4.14', { state: 'maintenance', schedulable: false }, 0),
  ];
  const image = (name: string, over: Partial<Image> = {}): Image => ({
    id: randomUUID(),
    projectId: p,
    name,
    description: '',
    state: 'ready',
    message: '',
    public: false,
    sourceFormat: 'qcow2',
    sourceBytes: 412 * mib,
    virtualBytes: 3 * gib,
    sha256: '9f2b'.repeat(16),
    architecture: 'x86_64',
    firmware: 'any',
    vendorData: null,
    taskId: null,
    createdAt: ago(86_400 * 5),
    ...over,
  });
  const images = [
    image('debian-12', { public: true, description: 'Generic cloud image' }),
    image('linux', { sourceFormat: 'raw', sourceBytes: 48 * mib, virtualBytes: 64 * mib }),
    image('ubuntu-24.04-minimal', { virtualBytes: 12 * gib }),
    image(long, {
      state: 'error',
      message:
        'The image has a backing file (/var/lib/images/base.qcow2). Flatten it with qemu-img convert and upload it again.',
      sha256: null,
      virtualBytes: null,
    }),
    image('alpine-3.22', {
      state: 'importing',
      sha256: null,
      virtualBytes: null,
      sourceBytes: null,
      sourceFormat: null,
    }),
  ];
  const network = (name: string, subnet: string, used: number, over: Partial<Network> = {}): Network => ({
    id: randomUUID(),
    projectId: p,
    name,
    description: '',
    subnet,
    gateway: subnet.replace(/\.0\/\d+$/, '.1'),
    dns: [],
    nat: true,
    guestEgress: { allow: [], deny: [] },
    mtu: 1500,
    addresses: { total: 253, used },
    createdAt: ago(86_400 * 9),
    ...over,
  });
  const networks = [
    network('backend', '10.10.0.0/24', 9),
    network('isolated-replication', '10.20.0.0/24', 2, {
      nat: false,
      guestEgress: null,
      description: 'Between the databases only',
    }),
    network('full', '10.30.0.0/29', 5, { addresses: { total: 5, used: 5 } }),
  ];
  const sshKeys: SshKey[] = [
    'anna@laptop',
    'deploy',
    'a-rather-long-comment-of-a-key-that-somebody-generated@workstation',
  ].map((name, i) => ({
    id: randomUUID(),
    projectId: p,
    name,
    type: i === 1 ? 'ssh-rsa' : 'ssh-ed25519',
    fingerprint: 'SHA256:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg',
    publicKey: `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ ${name}`,
    createdAt: ago(86_400 * 3),
  }));
  const instance = (name: string, n: number, over: Partial<Instance> = {}): Instance => {
    const f = flavors[n % 4];
    const h = hosts[n % 2];
    const net = networks[0];
    return {
      id: randomUUID(),
      projectId: n % 5 === 4 ? shop : p,
      name,
      hostname: name,
      description: '',
      state: 'running',
      stateReason: '',
      flavor: {
        id: f?.id ?? null,
        name: f?.name ?? '',
        vcpus: f?.vcpus ?? 1,
        memoryBytes: f?.memoryBytes ?? 0,
        diskBytes: f?.diskBytes ?? 0,
      },
      image: { id: images[n % 3]?.id ?? '', name: images[n % 3]?.name ?? '' },
      host: h === undefined ? null : { id: h.id, name: h.name },
      ports: [
        {
          id: randomUUID(),
          networkId: net?.id ?? '',
          network: net?.name ?? '',
          mac: `52:54:00:12:34:${(16 + n).toString(16)}`,
          address: `10.10.0.${10 + n}`,
        },
      ],
      sshKeys: ['anna@laptop'],
      stopGraceSeconds: 30,
      configDrive: null,
      wantedVmm: null,
      vmm: 'cloud-hypervisor 48.0',
      taskId: null,
      createdAt: ago(3600 * (n + 1) * 3),
      startedAt: ago(3600 * (n + 1) * 2),
      observedAt: ago(4),
      ...over,
    };
  };
  const silent = hosts[2];
  const instances = [
    instance('web-1', 1),
    instance('web-2', 2),
    instance('postgres-primary', 3, {
      description: 'Orders and customers',
      ports: [
        {
          id: randomUUID(),
          networkId: networks[0]?.id ?? '',
          network: 'backend',
          mac: '52:54:00:12:34:90',
          address: '10.10.0.40',
        },
        {
          id: randomUUID(),
          networkId: networks[1]?.id ?? '',
          network: 'isolated-replication',
          mac: '52:54:00:12:34:91',
          address: '10.20.0.2',
        },
      ],
    }),
    instance('postgres-replica', 7, { state: 'stopped', startedAt: null }),
    instance(long, 5),
    instance('queue', 6, { state: 'rebooting' }),
    instance('build-runner-17', 8, {
      state: 'error',
      stateReason: 'The machine ended by itself with exit code 1: the firmware found no bootable disk.',
      startedAt: null,
    }),
    instance('mail', 9, {
      state: 'unknown',
      stateReason: 'Its host has been silent for 5 minutes. The machine may well be running.',
      host: silent === undefined ? null : { id: silent.id, name: silent.name },
    }),
    ...Array.from({ length: 68 }, (_, i) =>
      instance(
        `worker-${String(i + 1).padStart(2, '0')}`,
        12 + i,
        i % 9 === 3 ? { state: 'stopped', startedAt: null } : {},
      ),
    ),
  ];
  const h1 = hosts[0] as Host;
  const subject = (i: Instance | undefined): Task['subject'] => ({
    kind: 'instance',
    id: i?.id ?? '',
    name: i?.name ?? '',
  });
  const start = Date.now() - 3_600_000;
  const failed = createSteps(h1).map(
    (s, i): TaskStep =>
      i < 6
        ? {
            ...s,
            state: 'succeeded',
            startedAt: new Date(start + i * 400).toISOString(),
            endedAt: new Date(start + i * 400 + 250).toISOString(),
          }
        : i === 6
          ? {
              ...s,
              state: 'failed',
              attempt: 3,
              startedAt: new Date(start + 2400).toISOString(),
              endedAt: new Date(start + 9100).toISOString(),
              error: { code: 'vmm_boot_failed', message: 'cloud-hypervisor could not open the kernel: no such file' },
            }
          : { ...s, state: 'pending' },
  );
  const undo = ['create-root-volume', 'allocate-ports', 'claim-host'].map((name, i) =>
    step(name, `Undo: ${name.replaceAll('-', ' ')}`, {
      phase: 'undo',
      state: 'succeeded',
      startedAt: new Date(start + 9200 + i * 90).toISOString(),
      endedAt: new Date(start + 9270 + i * 90).toISOString(),
    }),
  );
  const tasks = [
    ...instances.slice(0, 5).map((i, n) =>
      task('compute.create-instance', subject(i), p, finished(createSteps(h1), Date.now() - 7_200_000 * (n + 1)), {
        state: 'succeeded',
        progress: 100,
        createdAt: ago(7200 * (n + 1)),
        startedAt: ago(7200 * (n + 1)),
        endedAt: ago(7200 * (n + 1) - 3.4),
      }),
    ),
    task('compute.create-instance', { kind: 'instance', id: randomUUID(), name: 'cache-3' }, p, [...failed, ...undo], {
      state: 'failed',
      progress: 75,
      createdAt: ago(3600),
      startedAt: ago(3600),
      endedAt: ago(3590),
      error: {
        code: 'vmm_boot_failed',
        message:
          '“Start the machine” failed on hv-01 after 3 attempts: cloud-hypervisor could not open the kernel: no such file. Undone: “Create the root disk”, “Allocate addresses”, “Choose a host”. Check that the image boots, or try another one.',
        reason: 'cloud-hypervisor could not open the kernel: no such file',
        step: 'start-vmm',
        stepTitle: 'Start the machine',
        host: 'hv-01',
        attempts: 3,
        undone: true,
        undoneSteps: ['Create the root disk', 'Allocate addresses', 'Choose a host'].map((title) => ({
          name: title,
          title,
          host: null,
          reason: null,
        })),
        leftSteps: [],
        hint: 'Check that the image boots, or try another one.',
        requestId: null,
      },
    }),
    task(
      'compute.create-instance',
      { kind: 'instance', id: randomUUID(), name: 'db-9' },
      p,
      [
        ...failed,
        step('create-root-volume', 'Create the root disk', {
          phase: 'undo',
          state: 'failed',
          attempt: 31,
          host: { id: h1.id, name: h1.name },
          startedAt: ago(1200),
          endedAt: ago(600),
          error: { code: 'node_unreachable', message: 'The host hv-01 does not answer.' },
        }),
      ],
      {
        state: 'stuck',
        progress: 75,
        createdAt: ago(1300),
        startedAt: ago(1300),
        error: {
          code: 'vmm_boot_failed',
          message: 'The whole story.',
          reason: 'cloud-hypervisor could not open the kernel: no such file',
          step: 'start-vmm',
          stepTitle: 'Start the machine',
          host: 'hv-01',
          attempts: 3,
          undone: false,
          undoneSteps: [{ name: 'seed', title: 'Write the seed', host: null, reason: null }],
          leftSteps: [
            {
              name: 'create-root-volume',
              title: 'Create the root disk',
              host: 'hv-01',
              reason: 'The host hv-01 does not answer.',
            },
            { name: 'claim-host', title: 'Choose a host', host: null, reason: null },
          ],
          hint: 'Mend the cause, then let it undo again; or pass over the step, or end the task as it is.',
          requestId: null,
        },
        audit: [
          {
            at: ago(700),
            verb: 'retry',
            step: 'create-root-volume',
            reason: 'The switch of rack 4 is back.',
            by: { id: me.id, name: me.name },
            requestId: randomUUID(),
          },
        ],
      },
    ),
    task(
      'compute.delete-instance',
      subject(instances[3]),
      p,
      [
        step('mark', 'Mark as deleting', { state: 'succeeded', startedAt: ago(12), endedAt: ago(12) }),
        step('remove', 'Remove the virtual machine', {
          state: 'running',
          attempt: 4,
          host: { id: h1.id, name: h1.name },
          startedAt: ago(12),
          nextTryAt: ago(-6),
          error: { code: 'node_unreachable', message: 'The host hv-01 does not answer.' },
        }),
        step('release', 'Release its claims'),
      ],
      {
        state: 'running',
        progress: 33,
        step: 'remove',
        stepTitle: 'Remove the virtual machine',
        createdAt: ago(13),
        startedAt: ago(12),
        createdBy: me.name,
        waiting: {
          kind: 'retry',
          until: ago(-6),
          text: 'waiting for another try: The host hv-01 does not answer (attempt 4)',
        },
        children: 2,
        childTasks: [
          {
            id: randomUUID(),
            type: 'storage.delete-volume',
            state: 'running',
            progress: 50,
            subject: { kind: 'volume', id: randomUUID(), name: 'web-1-root' },
            step: 'remove',
            error: null,
          },
          {
            id: randomUUID(),
            type: 'network.sync-host',
            state: 'succeeded',
            progress: 100,
            subject: { kind: 'host', id: h1.id, name: 'networks' },
            step: null,
            error: null,
          },
        ],
      },
    ),
    task(
      'image.import',
      { kind: 'image', id: images[4]?.id ?? '', name: 'alpine-3.22' },
      p,
      [
        step('fetch', 'Fetch from the address', { state: 'running', progress: 42, startedAt: ago(20) }),
        step('inspect', 'Inspect'),
        step('convert', 'Convert to raw'),
      ],
      {
        state: 'running',
        progress: 20,
        step: 'fetch',
        stepTitle: 'Fetch from the address',
        createdAt: ago(21),
        startedAt: ago(20),
        createdBy: me.name,
      },
    ),
  ];
  const volumes: Volume[] = instances.slice(0, 12).map((i) => ({
    id: randomUUID(),
    projectId: i.projectId,
    name: `${i.name}-root`.slice(0, 63),
    state: 'in-use',
    bytes: i.flavor.diskBytes || 3 * gib,
    role: 'root',
    pool: 'local',
    host: i.host,
    instanceId: i.id,
    imageId: i.image.id,
    createdAt: i.createdAt,
  }));
  const ports: Port[] = instances.slice(0, 9).flatMap((i) =>
    i.ports.map(
      (x, position): Port => ({
        id: x.id,
        projectId: i.projectId,
        networkId: x.networkId,
        network: x.network,
        instanceId: i.id,
        position,
        mac: x.mac,
        address: x.address,
        state: 'active',
        message: '',
      }),
    ),
  );
  return {
    me,
    role,
    projects,
    members: [
      { userId: me.id, userName: me.name, role: 'project-admin' },
      { userId: randomUUID(), userName: 'anna', role: 'member' },
      { userId: randomUUID(), userName: 'auditor', role: 'viewer' },
    ],
    users: [me, user('anna', false), user('auditor', false), { ...user('former', false), enabled: false }],
    flavors,
    sshKeys,
    images,
    networks,
    ports,
    volumes,
    hosts,
    instances,
    tasks,
    apiTokens: [
      {
        id: randomUUID(),
        name: 'backup script',
        scopes: ['*:read'],
        createdAt: ago(86_400),
        expiresAt: ago(-86_400 * 60),
        lastUsedAt: ago(3000),
      },
    ],
  };
};

/** What a first login sees. */
export const emptyWorld = (me: User): World => ({
  ...busyWorld(me, 'admin'),
  projects: [project('default')],
  flavors: [],
  sshKeys: [],
  images: [],
  networks: [],
  ports: [],
  volumes: [],
  instances: [],
  tasks: [],
  apiTokens: [],
  hosts: [host('hv-01', '10.0.4.11', {}, 0)],
});

/** Thousands of rows in the list of instances. */
export const longWorld = (me: User): World => {
  const world = busyWorld(me, 'admin');
  const many = Array.from({ length: 3000 }, (_, n) => world.instances[n % world.instances.length]).map(
    (i, n) => ({ ...i, id: randomUUID(), name: `node-${String(n).padStart(4, '0')}` }) as Instance,
  );
  return { ...world, instances: many };
};

export const worldFor = (name: string): World => {
  const me = user(name, name !== 'viewer');
  return name === 'empty'
    ? emptyWorld(me)
    : name === 'long'
      ? longWorld(me)
      : busyWorld(me, name === 'viewer' ? 'viewer' : 'admin');
};
