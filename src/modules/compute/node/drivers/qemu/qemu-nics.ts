import { setTimeout as delay } from 'node:timers/promises';
import { mostPorts } from '../../../contract/compute.api';
import { deviceHeld, noFreeSlot, noHotplug, type VmNic } from '../vmm-driver';
import type { QmpClient } from './qmp-client';
import { QmpError } from './qmp-error';

/** Id of a place for a card, from 0. */
export const qemuSlot = (index: number): string => `slot${index}`;
/** Ids of cards and of disks share one space. */
const nicMark = 'n-';
const netdevOf = (nicId: string): string => `net-${nicId}`;

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

/** Where QEMU keeps the devices that have an id of ours. */
const peripheral = '/machine/peripheral';
/** Milliseconds. QEMU takes a second request only some five seconds after the first; a guest may miss one while it boots. */
const askAgain = 6000;
/** Milliseconds between looks, for an event may be lost with its connection. */
const lookAgain = 1000;

interface Child {
  name: string;
  type: string;
}

const children = (qmp: QmpClient): Promise<Child[]> => qmp.execute<Child[]>('qom-list', { path: peripheral });

const nicsAmong = (found: readonly Child[]): string[] =>
  found.flatMap(({ name }) => (name.startsWith(nicMark) ? [name.slice(nicMark.length)] : []));

const isNotFound = (error: unknown): boolean => error instanceof QmpError && error.errorClass === 'DeviceNotFound';

/** The cards that the machine has, those too that its guest was asked to let go. */
export const qemuNics = async (qmp: QmpClient): Promise<string[]> => nicsAmong(await children(qmp));

/** A place without a card. Throws `no_hotplug` for a machine that was started without places, `no_free_slot`. */
const freeSlot = async (qmp: QmpClient, found: readonly Child[]): Promise<string> => {
  const slots = Array.from({ length: mostPorts }, (_, index) => qemuSlot(index)).filter((slot) =>
    found.some(({ name }) => name === slot),
  );
  if (slots.length === 0) throw noHotplug('the machine has no root ports');
  const taken = new Set<string>();
  for (const nicId of nicsAmong(found)) {
    // Ends with the name of the bus, which is the root port's.
    const bus = await qmp.execute<string>('qom-get', {
      path: `${peripheral}/${nicMark}${nicId}`,
      property: 'parent_bus',
    });
    taken.add(bus.split('/').at(-1) ?? '');
  }
  const free = slots.find((slot) => !taken.has(slot));
  if (free === undefined) throw noFreeSlot();
  return free;
};

/** What carried a card's frames, when the card is gone or never came. */
const withoutNetdev = async (qmp: QmpClient, nicId: string): Promise<void> => {
  await qmp.execute('netdev_del', { id: netdevOf(nicId) }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
};

/** One card more; nothing is left of one that QEMU refuses. */
export const attachQemuNic = async (qmp: QmpClient, nic: VmNic): Promise<void> => {
  const found = await children(qmp);
  if (nicsAmong(found).includes(nic.id)) return;
  const { netdev, device } = qemuNic(nic, await freeSlot(qmp, found));
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

/**
 * The card is gone when this resolves. QEMU says so by an event, and when it is asked: the first wakes, the second
 * counts. A guest that powers off meanwhile ends the wait with its connection.
 */
export const detachQemuNic = async (
  qmp: QmpClient,
  nicId: string,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<void> => {
  const id = `${nicMark}${nicId}`;
  const end = Date.now() + deadlineMs;
  let asked = -Infinity;
  while ((await qemuNics(qmp)).includes(nicId)) {
    const now = Date.now();
    if (now >= end) throw deviceHeld();
    const woken = new AbortController();
    const stop = qmp.onEvent(({ event, data }) => {
      if (event === 'DEVICE_DELETED' && data['device'] === id) woken.abort();
    });
    try {
      if (now - asked >= askAgain) {
        asked = now;
        await request(qmp, id);
      }
      const wake = AbortSignal.any([woken.signal, signal]);
      await delay(Math.min(lookAgain, end - now), undefined, { signal: wake }).catch(() => undefined);
    } finally {
      stop();
    }
    signal.throwIfAborted();
  }
  await withoutNetdev(qmp, nicId);
};

/** Refused for a card that sits where nothing can be unplugged; not for one that was asked for a moment ago. */
const request = async (qmp: QmpClient, id: string): Promise<void> => {
  await qmp.execute('device_del', { id }).catch((error: unknown) => {
    if (isNotFound(error)) return;
    if (!(error instanceof QmpError)) throw error;
    if (error.message.includes('already in the process of unplug')) return;
    if (/does not support hotplug/.test(error.message)) throw noHotplug(error.message, error);
    throw error;
  });
};
