import { findVirtiofsd, shareSocket } from '../common/virtiofsd';
import type { VmSpec } from '../vmm-driver';
import { escapeValue } from './qemu-escape';
import { hasDevice } from './qemu-devices';

/** Slots of their own, so that what a guest calls its NICs does not change. As many as an instance may have shares. */
const slots = ['0x12', '0x13', '0x14', '0x15'] as const;
/** Requests that a guest may have under way; the most that virtiofsd takes. */
const queueSize = 1024;

/** A virtiofsd that gives its machines directories of the host; null where there is none, or QEMU cannot. */
export const virtiofsdFor = async (qemu: string, configured: string): Promise<string | null> => {
  const [found, device] = await Promise.all([findVirtiofsd(configured), hasDevice(qemu, 'vhost-user-fs-pci')]);
  return device ? found : null;
};

/** By their daemons, which listen already. */
export const shareArguments = (spec: VmSpec): string[] =>
  (spec.shares ?? []).flatMap(({ tag }, index) => [
    '-chardev',
    `socket,id=share${index},path=${escapeValue(shareSocket(spec, index))}`,
    '-device',
    JSON.stringify({
      driver: 'vhost-user-fs-pci',
      id: `share${index}`,
      chardev: `share${index}`,
      tag,
      'queue-size': queueSize,
      bus: 'pcie.0',
      addr: slots[index],
    }),
  ]);
