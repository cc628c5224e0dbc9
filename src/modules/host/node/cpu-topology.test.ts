import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { totalmem, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { dedicatedCpus, roomOfNodes, sharedCpus } from '../contract/cpu-topology';
import { readCpuTopology } from './cpu-topology';

describe('the CPUs of a machine', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'vc-cpus-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));
  const put = (files: Record<string, string>): void => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    }
  };
  const cpu = (id: number, siblings: string, core: number, socket: number): Record<string, string> => ({
    [`sys/devices/system/cpu/cpu${id}/topology/thread_siblings_list`]: `${siblings}\n`,
    [`sys/devices/system/cpu/cpu${id}/topology/core_id`]: `${core}\n`,
    [`sys/devices/system/cpu/cpu${id}/topology/physical_package_id`]: `${socket}\n`,
  });
  const node = (id: number, cpus: string, kib: number, distance: string): Record<string, string> => ({
    [`sys/devices/system/node/node${id}/cpulist`]: `${cpus}\n`,
    [`sys/devices/system/node/node${id}/meminfo`]: `Node ${id} MemTotal:       ${kib} kB\nNode ${id} MemFree: 1 kB\n`,
    [`sys/devices/system/node/node${id}/distance`]: `${distance}\n`,
  });
  const machine = (online: string, allowed = online): Record<string, string> => ({
    'sys/devices/system/cpu/online': `${online}\n`,
    'proc/self/status': `Name:\tnode\nCpus_allowed:\tff\nCpus_allowed_list:\t${allowed}\n`,
  });
  const none = { distances: [] };

  it('tells two sockets with two nodes each, whose threads of a core are far apart', async () => {
    put(machine('0-15'));
    for (let id = 0; id < 16; id += 1) {
      const first = id % 8;
      put(cpu(id, `${first},${first + 8}`, first % 4, Math.floor(first / 4)));
    }
    for (const id of [0, 1, 2, 3])
      put(
        node(
          id,
          `${2 * id}-${2 * id + 1},${2 * id + 8}-${2 * id + 9}`,
          1024 * (id + 1),
          [0, 1, 2, 3].map((to) => (to === id ? 10 : to >> 1 === id >> 1 ? 12 : 32)).join(' '),
        ),
      );
    const topology = await readCpuTopology([10, 2, 3, 15], root);
    expect(topology.nodes).toHaveLength(4);
    expect(topology.nodes[1]).toEqual({
      node: 1,
      memoryBytes: 2048 * 1024,
      hugePagesBytes: 0,
      cores: [
        [2, 10],
        [3, 11],
      ],
      dedicatedCpus: [2, 3, 10],
      distances: [
        { node: 0, distance: 12 },
        { node: 1, distance: 10 },
        { node: 2, distance: 32 },
        { node: 3, distance: 32 },
      ],
    });
    expect(dedicatedCpus(topology)).toEqual([2, 3, 10, 15]);
    expect(sharedCpus(topology)).toEqual([0, 1, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14]);
    expect(roomOfNodes(topology.nodes)).toEqual([
      { node: 1, dedicatedCpus: 3, memoryBytes: 2048 * 1024 },
      { node: 3, dedicatedCpus: 1, memoryBytes: 4096 * 1024 },
    ]);
  });

  it('tells a machine that has only CPUs as one node', async () => {
    put(machine('0-1'));
    expect((await readCpuTopology([1], root)).nodes).toEqual([
      { ...none, node: 0, memoryBytes: totalmem(), hugePagesBytes: 0, cores: [[0], [1]], dedicatedCpus: [1] },
    ]);
  });

  it('passes over CPUs that are off, also those that nodes and the configuration name', async () => {
    put({ ...machine('0,2'), ...node(0, '0-3', 4, '10'), ...cpu(0, '0', 0, 0), ...cpu(2, '2-3', 1, 0) });
    const { nodes } = await readCpuTopology([1, 2, 3, 99], root);
    expect(nodes).toMatchObject([{ cores: [[0], [2]], dedicatedCpus: [2] }]);
  });

  it('has only CPUs that the cpuset of the agent leaves it', async () => {
    put({ ...machine('0-7', '2-3,6'), ...node(0, '0-3', 4, '10 21'), ...node(1, '4-7', 4, '21 10') });
    const { nodes } = await readCpuTopology([0, 3, 6], root);
    expect(nodes).toMatchObject([
      { node: 0, cores: [[2], [3]], dedicatedCpus: [3] },
      { node: 1, cores: [[6]], dedicatedCpus: [6] },
    ]);
  });

  it('knows nodes without memory, without CPUs, and numbers with holes', async () => {
    put({
      ...machine('0-3'),
      ...node(0, '0-1', 8, '10 20 40'),
      ...node(4, '2-3', 0, '20 10 40'),
      // Memory behind a link.
      ...node(9, '', 64, '40 40 10'),
      'sys/devices/system/node/possible': '0-9\n',
      'sys/devices/system/node/power/control': 'auto\n',
    });
    const { nodes } = await readCpuTopology([], root);
    expect(nodes.map((one) => [one.node, one.memoryBytes, one.cores.flat()])).toEqual([
      [0, 8192, [0, 1]],
      [4, 0, [2, 3]],
      [9, 65_536, []],
    ]);
    expect(nodes[1]?.distances).toEqual([
      { node: 0, distance: 20 },
      { node: 4, distance: 10 },
      { node: 9, distance: 40 },
    ]);
  });

  it('counts huge pages apart: nothing else has their memory', async () => {
    put({
      ...machine('0'),
      ...node(0, '0', 8192, '10'),
      'sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages': '3\n',
      'sys/devices/system/node/node0/hugepages/hugepages-1048576kB/nr_hugepages': '0\n',
      'sys/devices/system/node/node0/hugepages/other/nr_hugepages': '9\n',
    });
    const { nodes } = await readCpuTopology([0], root);
    expect(nodes).toMatchObject([{ memoryBytes: 8192 * 1024, hugePagesBytes: 6144 * 1024 }]);
    expect(roomOfNodes(nodes)).toEqual([{ node: 0, dedicatedCpus: 1, memoryBytes: 2048 * 1024 }]);
  });

  it('goes by package and core where no siblings are told', async () => {
    put(machine('0-3'));
    for (const id of [0, 1, 2, 3])
      put({
        [`sys/devices/system/cpu/cpu${id}/topology/core_id`]: `${id % 2}\n`,
        [`sys/devices/system/cpu/cpu${id}/topology/physical_package_id`]: '0\n',
      });
    expect((await readCpuTopology([], root)).nodes[0]?.cores).toEqual([
      [0, 2],
      [1, 3],
    ]);
  });

  it('gives a home to CPUs that no node names, and survives nonsense', async () => {
    put({
      ...machine('0-3'),
      ...node(0, '', 4, 'far away'),
      ...node(1, '1-2', 4, '-1 10'),
      'sys/devices/system/node/node2/cpulist': 'all of them\n',
    });
    const { nodes } = await readCpuTopology([], root);
    expect(nodes.map((one) => one.cores.flat())).toEqual([[], [0, 1, 2, 3], []]);
    expect(nodes[1]?.distances).toEqual([{ node: 1, distance: 10 }]);
    expect(nodes[2]).toMatchObject({ memoryBytes: 0, distances: [] });
  });

  it('reads this machine', async () => {
    const { nodes } = await readCpuTopology([]);
    expect(nodes.flatMap(({ cores }) => cores.flat()).length).toBeGreaterThan(0);
    expect(nodes.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0)).toBeGreaterThan(0);
  });
});
