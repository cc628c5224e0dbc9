import { setTimeout as delay } from 'node:timers/promises';
import { checkMemoryStep, checkVcpus, roomToGrow } from '../common/resize-checks';
import { resizeHeld, resizeNeedsStop, type VmSize, type VmSpec } from '../vmm-driver';
import { memoryBackend } from './qemu-memory';
import type { QmpClient } from './qmp-client';

/** Its id among QEMU's devices. */
const memoryId = 'memory';
const memoryPath = `/machine/peripheral/${memoryId}`;
/** Milliseconds between looks, for an event may be lost with its connection. */
const lookAgain = 1000;

interface CpuPlace {
  type: string;
  props: Record<string, number>;
  /** Where it is, once there is one. */
  'qom-path'?: string;
}
interface MemoryDevice {
  type: string;
  data: { id?: string; size: number; 'max-size'?: number; 'requested-size'?: number };
}

/** A vCPU beside the first one, in QEMU's terms. All are cores of one socket. */
const cpuDevice = (model: string, core: number): Record<string, unknown> => ({
  driver: `${model}-x86_64-cpu`,
  id: `cpu-${core}`,
  'socket-id': 0,
  'core-id': core,
  'thread-id': 0,
});

const device = (properties: Record<string, unknown>): string[] => ['-device', JSON.stringify(properties)];

/**
 * vCPUs and memory on the command line. A machine that may grow has places for vCPUs, of which all but the first are
 * devices from the start, so that one that goes on from a suspension has the same ones; and a device by which its guest
 * takes and gives memory in small pieces, and that says how much it has.
 */
export const sizeArguments = (spec: VmSpec, model: string): string[] => {
  // A socket that lay on two nodes would be none that there is.
  const sockets = spec.cpus?.nodes?.length;
  if (sockets !== undefined)
    return [
      '-smp',
      `cpus=${spec.vcpus},sockets=${sockets},cores=${spec.vcpus / sockets},threads=1`,
      '-m',
      `size=${spec.memoryBytes}B`,
    ];
  if (spec.max === undefined) return ['-smp', String(spec.vcpus), '-m', `size=${spec.memoryBytes}B`];
  const most = Math.max(spec.vcpus, spec.max.vcpus);
  const room = roomToGrow(spec);
  return [
    '-smp',
    `cpus=1,maxcpus=${most},sockets=1,cores=${most},threads=1`,
    ...Array.from({ length: spec.vcpus - 1 }, (_, index) => device(cpuDevice(model, index + 1))).flat(),
    '-m',
    `size=${spec.memoryBytes}B${room > 0 ? `,maxmem=${spec.memoryBytes + room}B` : ''}`,
    ...(room > 0 ? memoryArguments(room, spec) : []),
  ];
};

const memoryArguments = (room: number, { hardware }: VmSpec): string[] => [
  ...memoryBackend('more-memory', room, hardware, { reserve: 'off' }),
  ...device({
    driver: 'virtio-mem-pci',
    id: memoryId,
    memdev: 'more-memory',
    'requested-size': 0,
    bus: 'pcie.0',
    addr: '0x1a',
  }),
];

const places = (qmp: QmpClient): Promise<CpuPlace[]> => qmp.execute<CpuPlace[]>('query-hotpluggable-cpus');
const isTaken = (place: CpuPlace): boolean => place['qom-path'] !== undefined;

const memoryOf = async (qmp: QmpClient): Promise<Required<MemoryDevice['data']> | undefined> => {
  const found = await qmp.execute<MemoryDevice[]>('query-memory-devices');
  const data = found.find(({ data: { id } }) => id === memoryId)?.data;
  return data && { 'max-size': 0, 'requested-size': 0, id: memoryId, ...data };
};

/** That the machine was started with. */
export const baseMemory = async (qmp: QmpClient): Promise<number> =>
  (await qmp.execute<{ 'base-memory': number }>('query-memory-size-summary'))['base-memory'];

/** What the machine has, and what its guest has taken of the memory that it may have. */
export const qemuSize = async (qmp: QmpClient): Promise<VmSize> => ({
  vcpus: (await places(qmp)).filter(isTaken).length,
  memoryBytes: (await baseMemory(qmp)) + ((await memoryOf(qmp))?.size ?? 0),
});

/** Throws `resize_needs_stop`. */
export const checkQemuResize = async (qmp: QmpClient, size: VmSize): Promise<void> => {
  const all = await places(qmp);
  const now = await qemuSize(qmp);
  const base = await baseMemory(qmp);
  checkVcpus(size.vcpus, all.length);
  // Seen with 7.2 and software emulation: what is given anew after it was taken back ends the machine.
  if (size.vcpus < now.vcpus) throw resizeNeedsStop('QEMU takes vCPUs back at the next start only');
  if (size.memoryBytes === now.memoryBytes) return;
  checkMemoryStep({ ...now, memoryBytes: base }, size.memoryBytes);
  if (size.memoryBytes < base)
    throw resizeNeedsStop('its machine was started with more memory, and only what came since can go');
  if (size.memoryBytes > base + ((await memoryOf(qmp))?.['max-size'] ?? 0))
    throw resizeNeedsStop('its machine was started with less room for memory');
};

/** Those that it has not yet, in order; returns what the command line of such a machine has besides. */
export const addQemuVcpus = async (qmp: QmpClient, vcpus: number): Promise<string[]> => {
  const all = await places(qmp);
  const free = all.filter((place) => !isTaken(place)).sort((a, b) => coreOf(a) - coreOf(b));
  const added: string[] = [];
  for (const place of free.slice(0, Math.max(0, vcpus - (all.length - free.length)))) {
    const wanted = cpuDevice(place.type.replace(/-x86_64-cpu$/, ''), coreOf(place));
    await qmp.execute('device_add', wanted);
    added.push(...device(wanted));
  }
  return added;
};

const coreOf = ({ props }: CpuPlace): number => props['core-id'] ?? 0;

/**
 * Says how much the guest shall have of it, and waits until it has. QEMU tells by an event, and when it is asked: the
 * first wakes, the second counts. Throws `resize_held`.
 */
export const setQemuMemory = async (
  qmp: QmpClient,
  bytes: number,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<void> => {
  const wanted = bytes - (await baseMemory(qmp));
  const before = (await memoryOf(qmp))?.size ?? 0;
  if (before === wanted && (await memoryOf(qmp))?.['requested-size'] === wanted) return;
  const end = Date.now() + deadlineMs;
  let woken = new AbortController();
  const stop = qmp.onEvent(({ event }) => {
    if (event === 'MEMORY_DEVICE_SIZE_CHANGE') woken.abort();
  });
  try {
    await qmp.execute('qom-set', { path: memoryPath, property: 'requested-size', value: wanted });
    for (;;) {
      woken = new AbortController();
      if ((await memoryOf(qmp))?.size === wanted) return;
      const left = end - Date.now();
      if (left <= 0) throw resizeHeld(wanted > before ? 'take the memory' : 'give the memory back');
      const wake = AbortSignal.any([woken.signal, signal]);
      await delay(Math.min(lookAgain, left), undefined, { signal: wake }).catch(() => undefined);
      signal.throwIfAborted();
    }
  } finally {
    stop();
  }
};
