import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inventoryWith } from '../contract/host.api';
import type { HostNode } from '../contract/cpu-topology';
import { readCpuTopology } from './cpu-topology';
import { readMachine } from './machine-inventory';

const node = (number: number): HostNode => ({
  node: number,
  memoryBytes: 1024,
  hugePagesBytes: 0,
  cores: [[number]],
  dedicatedCpus: [],
  distances: [],
});

describe('readMachine', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'vc-machine-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));
  const put = (files: Record<string, string>): void => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    }
  };

  it('reads processors, memory, disks, NICs and control groups', async () => {
    put({
      'proc/cpuinfo':
        'processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\nflags\t\t: fpu vmx sse2\n\nprocessor\t: 1\nmodel name\t: Some CPU @ 2.0GHz\nflags\t\t: fpu vmx sse2\n',
      'proc/meminfo': 'MemTotal:       2048 kB\nMemFree: 1 kB\n',
      'sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages': '4\n',
      'sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages': '3\n',
      'sys/block/sda/size': '2048\n',
      'sys/block/sda/device/model': 'DISK\u0000 \u0007X  \n',
      'sys/block/sda/queue/rotational': '1\n',
      'sys/block/loop0/size': '9\n',
      'sys/class/net/eth0/address': '02:00:00:00:00:01\n',
      'sys/class/net/eth0/mtu': '9000\n',
      'sys/class/net/eth0/speed': '-1\n',
      'sys/class/net/eth0/operstate': 'up\n',
      'sys/class/net/lo/mtu': '65536\n',
      // Ours, as the host's namespace has them, and those of containers.
      'sys/class/net/l1f0e2d3c4b5a69/mtu': '1450\n',
      'sys/class/net/veth1a2b3c4/mtu': '1500\n',
      'sys/class/net/docker0/mtu': '1500\n',
      'sys/fs/cgroup/cgroup.controllers': 'cpu memory pids\n',
    });
    const machine = await readMachine({ nodes: [node(0), node(2)] }, root);
    expect(machine.cpu).toMatchObject({ model: 'Some CPU @ 2.0GHz', flags: ['fpu', 'vmx', 'sse2'], numaNodes: 2 });
    expect(machine.memory).toEqual({
      totalBytes: 2048 * 1024,
      hugepages: [{ sizeBytes: 2048 * 1024, total: 4, free: 3 }],
    });
    expect(machine.disks).toEqual([{ name: 'sda', sizeBytes: 2048 * 512, model: 'DISK X', rotational: true }]);
    expect(machine.nics).toEqual([{ name: 'eth0', mac: '02:00:00:00:00:01', mtu: 9000, speedMbit: null, up: true }]);
    expect(machine.cgroup).toEqual({ version: 2, controllers: ['cpu', 'memory', 'pids'] });
  });

  it.each([['an empty machine'], ['this machine']])('fits the contract: %s', async (which) => {
    const where = which === 'this machine' ? '/' : root;
    const machine = await readMachine(await readCpuTopology([], where), where);
    expect(() => inventoryWith({}).parse({ ...machine, agentVersion: 't' })).not.toThrow();
  });
});
