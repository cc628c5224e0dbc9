import type { VmCpus } from '../vmm-driver';
import type { QmpClient } from './qmp-client';

interface VcpuThread {
  'cpu-index': number;
  'thread-id': number;
}

/** Which vCPU each of its threads is, by the thread's id in QEMU's own process namespace. */
export const qemuVcpuThreads = async (qmp: QmpClient): Promise<ReadonlyMap<number, number>> => {
  const vcpus = await qmp.execute<VcpuThread[]>('query-cpus-fast');
  return new Map(vcpus.map((vcpu) => [vcpu['thread-id'], vcpu['cpu-index']]));
};

/** Of the object that is the memory of a guest's node. */
export const nodeMemory = (guestNode: number): string => `node-memory-${guestNode}`;

/** What keeps memory on one NUMA node of the host. */
export const boundTo = (hostNode: number): Readonly<Record<string, string>> => ({
  'host-nodes': String(hostNode),
  policy: 'bind',
});

/** The nodes that the guest sees: its vCPUs and its memory in order, each with the memory that was made for it. */
export const numaArguments = (nodes: NonNullable<VmCpus['nodes']>): string[] => {
  let next = 0;
  return nodes.flatMap(({ vcpus }, guestNode) => {
    const first = next;
    next += vcpus;
    return ['-numa', `node,nodeid=${guestNode},cpus=${first}-${next - 1},memdev=${nodeMemory(guestNode)}`];
  });
};
