import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import {
  deviceHeld,
  noFreeSlot,
  noHotplug,
  notInState,
  type VmDisk,
  type VmMemory,
  type VmNic,
  type VmSize,
  type VmState,
} from '../vmm-driver';
import type { SuspendedMemory } from '../common/suspended-memory';
import { chMemory, setChBalloon } from './ch-balloon';
import { ChClient } from './ch-client';
import { chDisk, chDiskLimits, chDiskMark, chNet, chNicMark, type ChVmConfig } from './ch-config';
import { ChError } from './ch-error';
import { checkChResize, chSize, setChMemory, setChVcpus } from './ch-resize';

const known: { says: string; code: string; permanent: boolean; text: string }[] = [
  {
    says: 'Failed to get Write lock',
    code: 'disk_locked',
    permanent: false,
    text: 'Another process holds a lock on a disk',
  },
  {
    says: 'Failed to get Read lock',
    code: 'disk_locked',
    permanent: false,
    text: 'Another process holds a lock on a disk',
  },
  { says: 'Cannot open disk path', code: 'disk_missing', permanent: true, text: 'A disk cannot be opened' },
  {
    says: 'does not match expected type',
    code: 'disk_format',
    permanent: true,
    text: 'A disk carries the signature of another format',
  },
  { says: 'firmware file', code: 'firmware_missing', permanent: true, text: 'The firmware cannot be read' },
  { says: 'Cannot open kernel file', code: 'kernel_missing', permanent: true, text: 'The kernel cannot be read' },
  {
    says: 'annot allocate memory',
    code: 'out_of_memory',
    permanent: false,
    text: 'The host has no memory for the guest',
  },
  { says: 'Enabling tap interface failed', code: 'tap_down', permanent: false, text: 'A tap is down' },
  { says: 'Device or resource busy', code: 'tap_busy', permanent: false, text: 'Another process holds a tap' },
];

/** A refusal in the node's terms. Anything else passes through. */
export const asVerbFailure = (error: unknown): unknown => {
  if (!(error instanceof ChError)) return error;
  if (error.unanswered)
    return new VerbFailure(
      'vmm_unresponsive',
      'Cloud Hypervisor does not answer.',
      false,
      {},
      { cause: error, detail: error.message },
    );
  const match = known.find((entry) => error.says(entry.says));
  const code = match?.code ?? 'vmm_refused';
  return new VerbFailure(
    code,
    `${match?.text ?? 'Cloud Hypervisor refused'}.`,
    match?.permanent ?? true,
    {},
    { cause: error, detail: error.message },
  );
};

const guarded = async <T>(run: () => Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    throw asVerbFailure(error);
  }
};

/** `Created` is what vm.info says of a VM that is shut down, and of one whose boot failed. */
const stateOf = async (client: ChClient): Promise<VmState> => {
  const info = await client.info();
  return info?.state === 'Running'
    ? 'running'
    : info?.state === 'Paused' || info?.state === 'BreakPoint'
      ? 'paused'
      : 'stopped';
};

/** Ids of the devices of a kind, as its tree of devices has them: the configuration forgets one as soon as its guest is asked to let it go. */
const devicesOf = async (client: ChClient, mark: string): Promise<string[]> => {
  const info = await client.info();
  return Object.keys(info?.device_tree ?? {}).flatMap((id) => (id.startsWith(mark) ? [id.slice(mark.length)] : []));
};

/** The machine has it when this resolves; one that is there stays. */
const addDevice = async (client: ChClient, mark: string, id: string, add: () => Promise<void>): Promise<void> => {
  if ((await devicesOf(client, mark)).includes(id)) return;
  await add().catch((error: unknown) => {
    if (!(error instanceof ChError)) throw error;
    // Landlock and its sandbox bind a VMM for its life: what it may open was said when it was started.
    if (error.says('Failed to read the TAP flags') || error.says('Cannot open disk path'))
      throw noHotplug(error.message, error);
    if (error.says('Failed to find an available PCI device ID')) throw noFreeSlot();
    throw error;
  });
  if (!(await devicesOf(client, mark)).includes(id))
    throw new VerbFailure('vmm_refused', 'The VM does not have the device that was added.', false);
};

/**
 * Asks, and looks until the device is gone: that it went is an event too, but events get lost. Releases up to 53 answer
 * a second request as if there were no such device.
 */
const removeDevice = async (
  client: ChClient,
  mark: string,
  id: string,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<void> => {
  if (!(await devicesOf(client, mark)).includes(id)) return;
  await client.removeDevice(`${mark}${id}`).catch((error: unknown) => {
    if (!(error instanceof ChError) || !error.says('Failed to find device')) throw error;
  });
  const end = Date.now() + deadlineMs;
  for (let pause = 20; (await devicesOf(client, mark)).includes(id); pause = Math.min(2 * pause, 500)) {
    if (Date.now() >= end) throw deviceHeld();
    await delay(pause, undefined, { signal });
  }
};

const withGroups = z.object({ rate_limit_groups: z.array(z.object({ id: z.string() })).nullish() });

/** Whether the VM was started with a limit for its disks. */
const limitsDisks = async (client: ChClient): Promise<boolean> =>
  withGroups.parse((await client.info())?.config ?? {}).rate_limit_groups?.some(({ id }) => id === chDiskLimits) ===
  true;

const expectState = async (client: ChClient, wanted: VmState): Promise<void> => {
  const state = await stateOf(client);
  if (state !== wanted) throw notInState(state, wanted);
};

/** What drivers do over the API, whatever carries it. Refusals are `VerbFailure`s. */
export const chSession = {
  /**
   * Creates and boots, and sees it run. A boot that fails leaves a VMM that has lost disks, or holds half a VM: it is
   * only fit to be ended (a process is one VM's here), or to be deleted and created anew.
   */
  launch: (client: ChClient, config: ChVmConfig): Promise<void> =>
    guarded(async () => {
      await client.create(config);
      await client.boot();
      const info = await client.info();
      if (info?.state !== 'Running')
        throw new VerbFailure('vmm_start_failed', `The VM is "${info?.state ?? 'gone'}" after its boot.`, false);
    }),

  state: (client: ChClient): Promise<VmState> => guarded(() => stateOf(client)),

  /**
   * Asks for the state first: a VM that is in it already refuses, and one whose boot failed late would take `resume` and
   * say that it runs. Only what it says afterwards counts, for its events come before it has looked whether it can.
   */
  pause: (client: ChClient): Promise<void> =>
    guarded(async () => {
      if ((await stateOf(client)) === 'running') await client.pause();
      await expectState(client, 'paused');
    }),
  resume: (client: ChClient): Promise<void> =>
    guarded(async () => {
      if ((await stateOf(client)) === 'paused') await client.resume();
      await expectState(client, 'running');
    }),
  snapshot: (client: ChClient, directory: string): Promise<void> => guarded(() => client.snapshot(directory)),
  /** The VM of a snapshot, and sees it run. As after `launch`, one that failed is only fit to be ended. */
  restore: (client: ChClient, memory: SuspendedMemory): Promise<void> =>
    guarded(async () => {
      await client.restore(memory.directory);
      await expectState(client, 'paused');
      await memory.use();
      await client.resume();
      await expectState(client, 'running');
    }),
  nmi: (client: ChClient): Promise<void> => guarded(() => client.nmi()),

  nics: (client: ChClient): Promise<string[]> => guarded(() => devicesOf(client, chNicMark)),
  addNic: (client: ChClient, nic: VmNic): Promise<void> =>
    guarded(() => addDevice(client, chNicMark, nic.id, () => client.addNet(chNet(nic)))),
  removeNic: (client: ChClient, nicId: string, deadlineMs: number, signal: AbortSignal): Promise<void> =>
    guarded(() => removeDevice(client, chNicMark, nicId, deadlineMs, signal)),

  /** The detachable ones. */
  disks: (client: ChClient): Promise<string[]> => guarded(() => devicesOf(client, chDiskMark)),
  addDisk: (client: ChClient, disk: VmDisk): Promise<void> =>
    guarded(() =>
      addDevice(client, chDiskMark, disk.id, async () => client.addDisk(chDisk(disk, await limitsDisks(client)))),
    ),
  removeDisk: (client: ChClient, diskId: string, deadlineMs: number, signal: AbortSignal): Promise<void> =>
    guarded(() => removeDevice(client, chDiskMark, diskId, deadlineMs, signal)),

  size: (client: ChClient): Promise<VmSize> => guarded(() => chSize(client)),
  checkResize: (client: ChClient, size: VmSize): Promise<void> => guarded(() => checkChResize(client, size)),
  setVcpus: (client: ChClient, vcpus: number, deadlineMs: number, signal: AbortSignal): Promise<void> =>
    guarded(() => setChVcpus(client, vcpus, deadlineMs, signal)),
  setMemory: (client: ChClient, bytes: number): Promise<void> => guarded(() => setChMemory(client, bytes)),

  memory: (client: ChClient): Promise<VmMemory> => guarded(() => chMemory(client)),
  setBalloon: (client: ChClient, bytes: number): Promise<void> => guarded(() => setChBalloon(client, bytes)),

  powerButton: (client: ChClient): Promise<void> => guarded(() => client.powerButton()),
  reset: (client: ChClient): Promise<void> => guarded(() => client.reboot()),
};
