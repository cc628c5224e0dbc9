import { bytes } from '../lib/format';
import type { Flavor } from '../lib/types';

type Disk = NonNullable<Flavor['limits']['disk']>;
type Nic = NonNullable<Flavor['limits']['nic']>;

const bursts = (seconds: number): string => (seconds === 1 ? '' : `, bursts of ${seconds} s`);

/** Of all disks of an instance together. */
export const diskLimit = ({ iops, bytesPerSecond, burstSeconds }: Disk): string =>
  [
    ...(iops === null ? [] : [`${iops} requests/s`]),
    ...(bytesPerSecond === null ? [] : [`${bytes(bytesPerSecond)}/s`]),
  ].join(', ') + bursts(burstSeconds);

/** Of each card, each direction by itself. */
export const nicLimit = ({ bytesPerSecond, burstSeconds }: Nic): string =>
  `${bytes(bytesPerSecond)}/s each way${bursts(burstSeconds)}`;

/** Those that there are, each with its name. */
export const limitFacts = ({ disk, nic }: Flavor['limits']): [string, string][] => [
  ...(disk === null ? [] : [['Disk limit', diskLimit(disk)] satisfies [string, string]]),
  ...(nic === null ? [] : [['NIC limit', nicLimit(nic)] satisfies [string, string]]),
];
