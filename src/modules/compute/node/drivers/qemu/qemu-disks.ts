import { setTimeout as delay } from 'node:timers/promises';
import { mostVolumes } from '../../../contract/compute.api';
import { bucketOf, type DiskLimits } from '../../../contract/limits';
import { diskSerial } from '../common/disk-serial';
import type { VmDisk } from '../vmm-driver';
import { freeSlot, pluggedInto, unplug, type Plugged } from './qemu-hotplug';
import type { QmpClient } from './qmp-client';
import { QmpError } from './qmp-error';

/** Disks that come and go. Those that the machine keeps for its life begin with `d-`. */
export const qemuDataDisks: Plugged = {
  mark: 'v-',
  slots: Array.from({ length: mostVolumes }, (_, index) => `disk-slot${index}`),
};

/** A disk in QEMU's terms: its file, what is in it, and what the guest sees. */
export interface QemuDisk {
  nodes: Record<string, unknown>[];
  device: Record<string, unknown>;
}

/** Of the group of all disks of a machine whose disks are limited. */
const qemuLimits = 'disk-limits';

/** The group that all disks of a machine share, which slows them down together. */
export const qemuLimitsObject = (disk: DiskLimits): Record<string, unknown> => ({
  'qom-type': 'throttle-group',
  id: qemuLimits,
  limits: {
    ...(disk.iops !== null && { 'iops-total': disk.iops, 'iops-total-max': bucketOf(disk.iops, disk) }),
    ...(disk.bytesPerSecond !== null && {
      'bps-total': disk.bytesPerSecond,
      'bps-total-max': bucketOf(disk.bytesPerSecond, disk),
    }),
  },
});

/** @param names ids of file and content, and of what slows it down where it is limited: at most 31 characters */
export const qemuDisk = (
  entry: VmDisk,
  names: { file: string; node: string; limit?: string },
  device: Record<string, unknown>,
): QemuDisk => ({
  nodes: [
    {
      driver: 'file',
      'node-name': names.file,
      filename: entry.path,
      'read-only': entry.readonly,
      'auto-read-only': false,
      locking: 'on',
      discard: 'unmap',
      cache: { direct: false, 'no-flush': false },
    },
    // The format is ours to say, never QEMU's to guess from what the guest wrote.
    {
      driver: entry.format,
      'node-name': names.node,
      file: names.file,
      'read-only': entry.readonly,
      'auto-read-only': false,
      discard: 'unmap',
      'detect-zeroes': 'unmap',
    },
    ...(names.limit === undefined
      ? []
      : [
          {
            driver: 'throttle',
            'node-name': names.limit,
            'throttle-group': qemuLimits,
            file: names.node,
            'read-only': entry.readonly,
            'auto-read-only': false,
            discard: 'unmap',
          },
        ]),
  ],
  device: { driver: 'virtio-blk-pci', ...device, drive: names.limit ?? names.node, serial: diskSerial(entry.id) },
});

const namesOf = (diskId: string): { file: string; node: string; limit: string } => ({
  file: `file-${diskSerial(diskId)}`,
  node: `data-${diskSerial(diskId)}`,
  limit: `limit-${diskSerial(diskId)}`,
});

/** A disk that may come and go, in that place. */
export const qemuDataDisk = (entry: VmDisk, bus: string, limited: boolean): QemuDisk => {
  const { limit, ...names } = namesOf(entry.id);
  return qemuDisk(entry, { ...names, ...(limited && { limit }) }, { id: `${qemuDataDisks.mark}${entry.id}`, bus });
};

/** The disks of that kind that the machine has, those too that its guest was asked to let go. */
export const qemuDisks = (qmp: QmpClient): Promise<string[]> => pluggedInto(qmp, qemuDataDisks);

/** Milliseconds that QEMU may take to let go of what a device stood on, once it says that the device is gone. */
const letGoDeadline = 5000;
const letGoPause = 20;

const deleteNode = async (qmp: QmpClient, name: string): Promise<void> => {
  for (const end = Date.now() + letGoDeadline; ; await delay(letGoPause))
    try {
      await qmp.execute('blockdev-del', { 'node-name': name });
      return;
    } catch (error) {
      if (!(error instanceof QmpError)) throw error;
      if (/[Ff]ailed to find node|Cannot find/.test(error.message)) return;
      // A device leaves QEMU's list first; its hold on the node ends with its last reference.
      if (!error.message.includes('is in use') || Date.now() >= end) throw error;
    }
};

/** What stood behind a disk, when the disk is gone or never came. Its file is free then. */
const withoutNodes = async (qmp: QmpClient, diskId: string): Promise<void> => {
  const { file, node, limit } = namesOf(diskId);
  for (const name of [limit, node, file]) await deleteNode(qmp, name);
};

/** Whether the machine was started with a limit for its disks. */
const limitsDisks = async (qmp: QmpClient): Promise<boolean> =>
  (await qmp.execute<{ name: string }[]>('qom-list', { path: '/objects' })).some(({ name }) => name === qemuLimits);

/** One disk more; nothing is left of one that QEMU refuses. */
export const attachQemuDisk = async (qmp: QmpClient, entry: VmDisk): Promise<void> => {
  if ((await qemuDisks(qmp)).includes(entry.id)) return;
  const { nodes, device } = qemuDataDisk(entry, await freeSlot(qmp, qemuDataDisks), await limitsDisks(qmp));
  // Of a disk that went while nobody looked.
  await withoutNodes(qmp, entry.id);
  try {
    for (const node of nodes) await qmp.execute('blockdev-add', node);
    await qmp.execute('device_add', device);
  } catch (error) {
    await withoutNodes(qmp, entry.id);
    throw error;
  }
};

/** The disk is gone when this resolves, and its file closed; throws as `unplug`. */
export const detachQemuDisk = async (
  qmp: QmpClient,
  diskId: string,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<void> => {
  await unplug(qmp, qemuDataDisks, diskId, deadlineMs, signal);
  await withoutNodes(qmp, diskId);
};
