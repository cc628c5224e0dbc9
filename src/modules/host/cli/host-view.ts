import type { CliColumn, Tone } from '../../../core/cli/output/cli-column';
import { formatBytes, formatTime, moment } from '../../../core/cli/output/format';
import { formatCpuList } from '../../../core/host/cpus/cpu-list';
import { fact, type Fact, type Section } from '../../../core/cli/output/sections';
import type { InventoryColumn, InventoryView, InventoryTable } from '../../../core/m2m/reports/inventory-table';
import type { Host, HostDetail, HostState, Inventory, StoreRoom } from '../contract/host.api';

const tones: Record<HostState, Tone> = {
  discovered: 'busy',
  enrolling: 'busy',
  testing: 'busy',
  ready: 'good',
  unknown: 'busy',
  degraded: 'bad',
  draining: 'busy',
  maintenance: 'busy',
  failed: 'bad',
  retired: undefined,
};
export const hostStateNames = Object.keys(tones);
const toneOf = (host: Host): Tone => tones[host.state];

export const hostColumns: CliColumn<Host>[] = [
  { header: 'name', value: (h) => h.name },
  { header: 'state', value: (h) => h.state, tone: toneOf },
  { header: 'schedulable', value: (h) => (h.schedulable ? 'yes' : 'no') },
  { header: 'instances', value: (h) => String(h.capacity.instances), raw: (h) => h.capacity.instances },
  { header: 'vcpus', value: (h) => `${h.capacity.vcpusUsed}/${h.capacity.vcpus}`, raw: (h) => h.capacity.vcpusUsed },
  {
    header: 'memory',
    value: (h) => `${formatBytes(h.capacity.memoryBytesUsed)} of ${formatBytes(h.capacity.memoryBytes)}`,
    raw: (h) => h.capacity.memoryBytesUsed,
  },
  { header: 'last seen', value: (h) => formatTime(h.lastSeenAt), raw: (h) => h.lastSeenAt },
  {
    header: 'disk',
    value: (h) => `${formatBytes(h.capacity.diskBytesUsed)} of ${formatBytes(h.capacity.diskBytes)}`,
    raw: (h) => h.capacity.diskBytesUsed,
    wide: true,
  },
  { header: 'address', value: (h) => h.address, wide: true },
  { header: 'breaker', value: (h) => h.breaker, wide: true },
  { header: 'id', value: (h) => h.id, wide: true, whole: true },
];

/** More vCPUs than threads are given out on purpose: guests seldom want all of theirs at once. */
const vcpusOf = (host: HostDetail): string => {
  const { vcpus, vcpusUsed } = host.capacity;
  const threads = Math.max(0, (host.inventory?.cpu.threads ?? 0) - host.capacity.dedicatedCpus);
  const times = threads > 0 ? vcpus / threads : 1;
  const why =
    times > 1 ? ` (${threads} threads, overcommitted ${Number(times.toFixed(1))} times: guests share them)` : '';
  return `${vcpusUsed} of ${vcpus} given out${why}`;
};

const machine = (inventory: Inventory): Fact[] => [
  fact('Processor', `${inventory.cpu.model}, ${inventory.cpu.threads} thread${inventory.cpu.threads === 1 ? '' : 's'}`),
  fact('Memory', formatBytes(inventory.memory.totalBytes)),
  fact('Kernel', `${inventory.kernel}, ${inventory.architecture}`),
  fact('Agent', inventory.agentVersion),
  ...(inventory.cgroup
    ? [
        fact(
          'Control groups',
          `version ${inventory.cgroup.version}, ${inventory.cgroup.controllers.join(', ') || 'no controllers'}`,
        ),
      ]
    : []),
];

type Entry = Record<string, unknown>;

const cell = ({ key, as }: InventoryColumn, entry: Entry): string => {
  const value = entry[key];
  if (as === 'bytes') return formatBytes(Number(value));
  if (as === 'yes-no') return value === true ? 'yes' : 'no';
  return Array.isArray(value) ? value.join(', ') : String(value ?? '');
};

/** What another module's manifest says of its part of the inventory. */
const partSection = ({ title, columns, only, none }: InventoryView, all: readonly Entry[]): Section => {
  const entries = only === undefined ? all : all.filter((entry) => entry[only] === true);
  return {
    title,
    headers: columns.map((column) => column.title),
    rows: entries.map((entry) => columns.map((column) => cell(column, entry))),
    tone: (row, index) => {
      const column = columns[index];
      return column?.as === 'yes-no' ? (entries[row]?.[column.key] === true ? 'good' : 'bad') : undefined;
    },
    none,
  };
};

const inventorySections = (inventory: Inventory, parts: InventoryTable): Section[] => [
  { title: 'Machine', facts: machine(inventory) },
  ...Object.entries(parts).flatMap(([part, { tables }]) =>
    tables.map((view) => partSection(view, (inventory[part] ?? []) as Entry[])),
  ),
  {
    title: 'Disks',
    headers: ['name', 'size', 'model'],
    rows: inventory.disks.map((d) => [d.name, formatBytes(d.sizeBytes), d.model]),
  },
  {
    title: 'Network cards',
    headers: ['name', 'mac', 'mtu', 'speed', 'link'],
    rows: inventory.nics.map((n) => [
      n.name,
      n.mac,
      String(n.mtu),
      n.speedMbit === null ? '' : `${n.speedMbit} Mbit/s`,
      n.up ? 'up' : 'down',
    ]),
  },
];

/** NUMA nodes with what of each is set aside for instances with CPUs of their own, and given out. */
const nodeSections = ({ inventory, capacity }: HostDetail): Section[] => {
  const nodes = inventory?.cpu.nodes ?? [];
  return nodes.length === 0
    ? []
    : [
        {
          title: 'NUMA nodes',
          headers: ['node', 'cpus', 'cores', 'memory', 'distances', 'set aside', 'given out'],
          rows: nodes.map(({ node, cores, memoryBytes, distances, dedicatedCpus }) => [
            String(node),
            formatCpuList(cores.flat()),
            String(cores.length),
            formatBytes(memoryBytes),
            distances.map(({ distance }) => distance).join(' '),
            formatCpuList(dedicatedCpus),
            dedicatedCpus.length === 0
              ? ''
              : `${capacity.nodes.find((one) => one.node === node)?.dedicatedCpusUsed ?? 0} of ${dedicatedCpus.length}`,
          ]),
        },
      ];
};

/** A condition that is as it should be needs no colour; `true` is good for all of them. */
const conditionTone = (status: string): Tone => (status === 'true' ? 'good' : status === 'false' ? 'bad' : 'busy');

const storeFacts = (noun: string, rooms: unknown) =>
  ((rooms ?? []) as StoreRoom[]).map(({ name, bytes, bytesUsed }) =>
    fact(
      `${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${name}`,
      `${formatBytes(bytesUsed)} of ${formatBytes(bytes)} given out`,
    ),
  );

/** A host as people read it. */
export const hostView = (host: HostDetail, parts: InventoryTable): Section[] => [
  {
    facts: [
      fact('Name', host.name),
      fact('State', host.state, toneOf(host)),
      fact('Takes instances', host.schedulable ? 'yes' : 'no'),
      fact('Address', host.address),
      fact('Last seen', moment(host.lastSeenAt)),
      fact(
        'Circuit breaker',
        host.breaker === 'closed' ? 'closed: it is called' : `${host.breaker}: it is not called at the moment`,
        host.breaker === 'closed' ? undefined : 'bad',
      ),
      fact('Joined', moment(host.createdAt)),
      fact('Id', host.id),
    ],
  },
  {
    title: 'Capacity',
    facts: [
      fact('Instances', String(host.capacity.instances)),
      fact('vCPUs', vcpusOf(host)),
      ...(host.capacity.dedicatedCpus === 0
        ? []
        : [fact('Dedicated CPUs', `${host.capacity.dedicatedCpusUsed} of ${host.capacity.dedicatedCpus} given out`)]),
      fact(
        'Memory',
        `${formatBytes(host.capacity.memoryBytesUsed)} of ${formatBytes(host.capacity.memoryBytes)} given out`,
      ),
      ...host.capacity.hugePages.map(({ size, bytes, bytesUsed }) =>
        fact(`Huge pages of ${size}`, `${formatBytes(bytesUsed)} of ${formatBytes(bytes)} given out`),
      ),
      ...Object.entries(parts).flatMap(([part, { store }]) =>
        store === undefined ? [] : storeFacts(store.noun, host.capacity[part]),
      ),
      fact('Disk', `${formatBytes(host.capacity.diskBytesUsed)} of ${formatBytes(host.capacity.diskBytes)} given out`),
    ],
  },
  {
    title: 'Conditions',
    headers: ['condition', 'status', 'reason', 'since', 'message'],
    rows: host.conditions.map((c) => [c.type, c.status, c.reason, formatTime(c.since), c.message]),
    tone: (row, column) => (column === 1 ? conditionTone(host.conditions[row]?.status ?? '') : undefined),
  },
  ...nodeSections(host),
  ...(host.inventory ? inventorySections(host.inventory, parts) : []),
];
