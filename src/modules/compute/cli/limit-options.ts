import type { Command } from 'commander';
import { parseInteger, parseSize } from '../../../core/cli/input/parse-size';
import { usageFailure } from '../../../core/cli/cli-failure';
import { formatBytes } from '../../../core/cli/output/format';
import { fact, type Fact } from '../../../core/cli/output/sections';
import type { DiskLimits, Limits, NicLimits } from '../contract/limits';

/** As the API has it: `limitsInput` of the contract. */
const leastRate = 128 * 1024;
const mostBurst = 60;

export interface LimitOptions {
  diskIops?: string;
  diskRate?: string;
  diskBurst?: string;
  nicRate?: string;
  nicBurst?: string;
}

export const addLimitOptions = (command: Command): Command =>
  command
    .option('--disk-iops <count>', 'requests a second of all disks of an instance together')
    .option('--disk-rate <size>', 'bytes a second of all disks of an instance together, e.g. 100MiB')
    .option('--disk-burst <seconds>', 'what disks did not use for so long they may use at once; 1 when missing')
    .option('--nic-rate <size>', 'bytes a second of each NIC, each direction by itself, e.g. 125MB')
    .option('--nic-burst <seconds>', 'as --disk-burst, of each NIC');

const burst = (value: string | undefined, option: string): { burstSeconds?: number } =>
  value === undefined ? {} : { burstSeconds: parseInteger(value, option, 1, mostBurst) };

/** The part of a request that asks for them; nothing when none is given. Throws a usage failure. */
export const limitsFrom = (options: LimitOptions): { limits?: object } => {
  const { diskIops, diskRate, diskBurst, nicRate, nicBurst } = options;
  if (diskBurst !== undefined && diskIops === undefined && diskRate === undefined)
    throw usageFailure('--disk-burst needs --disk-iops or --disk-rate');
  if (nicBurst !== undefined && nicRate === undefined) throw usageFailure('--nic-burst needs --nic-rate');
  const rate = (value: string, option: string): { bytesPerSecond: number } => ({
    bytesPerSecond: parseSize(value, option, { least: leastRate }),
  });
  const disk = {
    ...(diskIops !== undefined && { iops: parseInteger(diskIops, '--disk-iops', 10, 10_000_000) }),
    ...(diskRate !== undefined && rate(diskRate, '--disk-rate')),
    ...burst(diskBurst, '--disk-burst'),
  };
  const limits = {
    ...(Object.keys(disk).length > 0 && { disk }),
    ...(nicRate !== undefined && { nic: { ...rate(nicRate, '--nic-rate'), ...burst(nicBurst, '--nic-burst') } }),
  };
  return Object.keys(limits).length === 0 ? {} : { limits };
};

const bursts = ({ burstSeconds }: { burstSeconds: number }): string =>
  burstSeconds === 1 ? '' : `, bursts of ${burstSeconds} s`;
const diskInWords = (disk: DiskLimits): string =>
  [
    ...(disk.iops === null ? [] : [`${disk.iops} requests/s`]),
    ...(disk.bytesPerSecond === null ? [] : [`${formatBytes(disk.bytesPerSecond)}/s`]),
  ].join(', ') + bursts(disk);
const nicInWords = (nic: NicLimits): string => `${formatBytes(nic.bytesPerSecond)}/s each way${bursts(nic)}`;

/** Those that there are, as people read them. */
export const limitFacts = ({ disk, nic }: Limits): Fact[] => [
  ...(disk === null ? [] : [fact('Disk limit', diskInWords(disk))]),
  ...(nic === null ? [] : [fact('NIC limit', nicInWords(nic))]),
];
