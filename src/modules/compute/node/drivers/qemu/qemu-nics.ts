import { mostPorts } from '../../../contract/compute.api';
import type { VmNic } from '../vmm-driver';
import { freeSlot, isNotFound, pluggedInto, unplug, type Plugged } from './qemu-hotplug';
import type { QmpClient } from './qmp-client';

/** Ids of cards and of disks share one space. */
const nicMark = 'n-';
const netdevOf = (nicId: string): string => `net-${nicId}`;

export const qemuCards: Plugged = {
  mark: nicMark,
  slots: Array.from({ length: mostPorts }, (_, index) => `slot${index}`),
};

/** A card in QEMU's terms, in that place: what carries its frames, and what the guest sees. */
export const qemuNic = (
  nic: VmNic,
  bus: string,
): { netdev: { type: string } & Record<string, string | false>; device: Record<string, unknown> } => ({
  netdev: {
    type: 'tap',
    id: netdevOf(nic.id),
    ifname: nic.tap,
    script: 'no',
    downscript: 'no',
    vhost: false,
  },
  device: {
    driver: 'virtio-net-pci',
    id: `${nicMark}${nic.id}`,
    bus,
    netdev: netdevOf(nic.id),
    mac: nic.mac,
    romfile: '',
    host_mtu: nic.mtu,
  },
});

/** The cards that the machine has, those too that its guest was asked to let go. */
export const qemuNics = (qmp: QmpClient): Promise<string[]> => pluggedInto(qmp, qemuCards);

/** What carried a card's frames, when the card is gone or never came. */
const withoutNetdev = async (qmp: QmpClient, nicId: string): Promise<void> => {
  await qmp.execute('netdev_del', { id: netdevOf(nicId) }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
};

/** One card more; nothing is left of one that QEMU refuses. */
export const attachQemuNic = async (qmp: QmpClient, nic: VmNic): Promise<void> => {
  if ((await qemuNics(qmp)).includes(nic.id)) return;
  const { netdev, device } = qemuNic(nic, await freeSlot(qmp, qemuCards));
  // Of a card that went while nobody looked.
  await withoutNetdev(qmp, nic.id);
  await qmp.execute('netdev_add', netdev);
  try {
    await qmp.execute('device_add', device);
  } catch (error) {
    await withoutNetdev(qmp, nic.id);
    throw error;
  }
};

/** The card is gone when this resolves; throws as `unplug`. */
export const detachQemuNic = async (
  qmp: QmpClient,
  nicId: string,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<void> => {
  await unplug(qmp, qemuCards, nicId, deadlineMs, signal);
  await withoutNetdev(qmp, nicId);
};
