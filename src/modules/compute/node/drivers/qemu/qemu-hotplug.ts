import { setTimeout as delay } from 'node:timers/promises';
import { deviceHeld, noFreeSlot, noHotplug } from '../vmm-driver';
import type { QmpClient } from './qmp-client';
import { QmpError } from './qmp-error';

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

/** Devices of one kind: their ids begin with `mark`, and each has a place of its own among `slots`. */
export interface Plugged {
  mark: string;
  /** Ids of the root ports that are there for them: only what is behind one can be plugged and unplugged. */
  slots: readonly string[];
}

const children = (qmp: QmpClient): Promise<Child[]> => qmp.execute<Child[]>('qom-list', { path: peripheral });

const among = (found: readonly Child[], mark: string): string[] =>
  found.flatMap(({ name }) => (name.startsWith(mark) ? [name.slice(mark.length)] : []));

export const isNotFound = (error: unknown): boolean =>
  error instanceof QmpError && error.errorClass === 'DeviceNotFound';

/** Those that the machine has, those too that its guest was asked to let go. */
export const pluggedInto = async (qmp: QmpClient, { mark }: Plugged): Promise<string[]> =>
  among(await children(qmp), mark);

/** A place without a device. Throws `no_hotplug` for a machine that was started without places, `no_free_slot`. */
export const freeSlot = async (qmp: QmpClient, { mark, slots }: Plugged): Promise<string> => {
  const found = await children(qmp);
  const there = slots.filter((slot) => found.some(({ name }) => name === slot));
  if (there.length === 0) throw noHotplug('the machine has no root ports');
  const taken = new Set<string>();
  for (const id of among(found, mark)) {
    // Ends with the name of the bus, which is the root port's.
    const bus = await qmp.execute<string>('qom-get', { path: `${peripheral}/${mark}${id}`, property: 'parent_bus' });
    taken.add(bus.split('/').at(-1) ?? '');
  }
  const free = there.find((slot) => !taken.has(slot));
  if (free === undefined) throw noFreeSlot();
  return free;
};

/**
 * The device is gone when this resolves. QEMU says so by an event, and when it is asked: the first wakes, the second
 * counts. A guest that powers off meanwhile ends the wait with its connection.
 */
export const unplug = async (
  qmp: QmpClient,
  kind: Plugged,
  ownId: string,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<void> => {
  const id = `${kind.mark}${ownId}`;
  const end = Date.now() + deadlineMs;
  let asked = -Infinity;
  while ((await pluggedInto(qmp, kind)).includes(ownId)) {
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
};

/** Refused for a device that sits where nothing can be unplugged; not for one that was asked for a moment ago. */
const request = async (qmp: QmpClient, id: string): Promise<void> => {
  await qmp.execute('device_del', { id }).catch((error: unknown) => {
    if (isNotFound(error)) return;
    if (!(error instanceof QmpError)) throw error;
    if (error.message.includes('already in the process of unplug')) return;
    if (/does not support hotplug/.test(error.message)) throw noHotplug(error.message, error);
    throw error;
  });
};
