import { readFileSync } from 'node:fs';
import { ApiFailure } from './api-failure';
import type { SimulationKnobs } from './knobs';
import type { NetConfig, VmConfig } from './vm-config';

const readOr = (path: string, otherwise: string): string => {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return otherwise;
  }
};

/** `IFF_UP` of a link's flags. */
const upFlag = 1;
/** What cannot be looked at is taken to be up. */
const isUp = (tap: string): boolean => (Number(readOr(`/sys/class/net/${tap}/flags`, '0x1')) & upFlag) !== 0;

/** `CAP_NET_ADMIN`, which no VMM has that is shut in. */
const netAdmin = 1n << 12n;
const mayPutUp = (): boolean => {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readOr('/proc/self/status', ''))?.[1];
  return effective === undefined || (BigInt(`0x${effective}`) & netAdmin) !== 0n;
};

/**
 * As far as the original can fail to open a tap that is there. Landlock lets it at `/dev/net/tun` by itself, but at a
 * tap's flags only by a rule. One that is down it puts up, which takes a right.
 */
export const openTap = ({ tap }: NetConfig, config: VmConfig, heading: string, knobs: SimulationKnobs): void => {
  if (tap === null || knobs.resources === 'none') return;
  const fail = (...reasons: string[]): never => {
    throw new ApiFailure(
      'internal',
      heading,
      'Error from device manager',
      'Cannot create virtio-net device',
      'Failed to open taps',
      ...reasons,
    );
  };
  const ruled = config.landlock_rules?.some((rule) => `/sys/class/net/${tap}/`.startsWith(`${rule.path}/`));
  if (config.landlock_enable && ruled !== true)
    fail('Failed to read the TAP flags from sysfs', 'Permission denied (os error 13)');
  if (!isUp(tap) && !mayPutUp())
    fail('Enabling tap interface failed', 'Ioctl failed (35092)', 'Operation not permitted (os error 1)');
};
