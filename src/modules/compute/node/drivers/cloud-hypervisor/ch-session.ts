import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import type { VmState } from '../vmm-driver';
import { ChClient } from './ch-client';
import type { ChVmConfig } from './ch-config';
import { ChError } from './ch-error';

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

  /** `Created` is what vm.info says of a VM that is shut down, and of one whose boot failed. */
  state: (client: ChClient): Promise<VmState> =>
    guarded(async () => {
      const info = await client.info();
      return info?.state === 'Running'
        ? 'running'
        : info?.state === 'Paused' || info?.state === 'BreakPoint'
          ? 'paused'
          : 'stopped';
    }),

  powerButton: (client: ChClient): Promise<void> => guarded(() => client.powerButton()),
  reset: (client: ChClient): Promise<void> => guarded(() => client.reboot()),
};
