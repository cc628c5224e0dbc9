import type { HostDetail } from '../contract/host.api';
import { hostView } from './host-view';

const host = {
  id: 'h',
  name: 'one',
  address: '192.0.2.1',
  state: 'ready',
  schedulable: true,
  conditions: [],
  breaker: 'closed',
  lastSeenAt: null,
  createdAt: '2026-01-01T00:00:00Z',
  capacity: {
    vcpus: 8,
    vcpusUsed: 1,
    dedicatedCpus: 6,
    dedicatedCpusUsed: 3,
    nodes: [
      { node: 0, dedicatedCpus: 2, dedicatedCpusUsed: 1, memoryBytes: 2 ** 30, memoryBytesBound: 0 },
      { node: 4, dedicatedCpus: 4, dedicatedCpusUsed: 2, memoryBytes: 2 ** 30, memoryBytesBound: 0 },
    ],
    memoryBytes: 2 ** 31,
    memoryBytesUsed: 0,
    hugePages: [],
    diskBytes: 0,
    diskBytesUsed: 0,
    instances: 2,
  },
  inventory: {
    hostname: 'one',
    kernel: '6.1',
    architecture: 'x86_64',
    cpu: {
      model: 'x',
      flags: [],
      threads: 8,
      numaNodes: 2,
      nodes: [
        {
          node: 0,
          memoryBytes: 2 ** 30,
          hugePagesBytes: 0,
          cores: [
            [0, 1],
            [2, 3],
          ],
          dedicatedCpus: [2, 3],
          distances: [
            { node: 0, distance: 10 },
            { node: 4, distance: 21 },
          ],
        },
        {
          node: 4,
          memoryBytes: 2 ** 30,
          hugePagesBytes: 0,
          cores: [[4], [5], [6], [7]],
          dedicatedCpus: [4, 5, 6, 7],
          distances: [],
        },
      ],
    },
    memory: { totalBytes: 2 ** 31, hugepages: [] },
    disks: [],
    nics: [],
    agentVersion: 't',
  },
} satisfies HostDetail;

it('shows NUMA nodes with their CPUs, and how many of them are set aside and given out', () => {
  const sections = hostView(host, {});
  expect(sections.find(({ title }) => title === 'NUMA nodes')?.rows).toEqual([
    ['0', '0-3', '2', '1 GiB', '10 21', '2-3', '1 of 2'],
    ['4', '4-7', '4', '1 GiB', '', '4-7', '2 of 4'],
  ]);
  const capacity = sections.find(({ title }) => title === 'Capacity')?.facts;
  expect(capacity).toContainEqual({ label: 'Dedicated CPUs', value: '3 of 6 given out' });
  // Threads that are set aside are not overcommitted.
  expect(capacity).toContainEqual(
    expect.objectContaining({ label: 'vCPUs', value: expect.stringContaining('2 threads, overcommitted 4') as string }),
  );
});
