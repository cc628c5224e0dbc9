import type { Options } from '../../lib/command';
import { parseBytes } from '../../lib/format';
import type { CreateFlavor } from '../../lib/types';
import { limitsShown } from '../../../../src/modules/compute/contract/limits';
import { checkBy, checkWhole } from '../../lib/validate';

/** How fast disks and cards are: texts, as they were typed, each empty for none. */
export interface LimitsDraft {
  diskIops: string;
  diskRate: string;
  nicRate: string;
  /** Seconds, of disks and cards. */
  burst: string;
}

export const noLimits: LimitsDraft = { diskIops: '', diskRate: '', nicRate: '', burst: '' };

const disk = limitsShown.shape.disk.unwrap().shape;
const nic = limitsShown.shape.nic.unwrap().shape;
const checkIops = checkWhole(disk.iops.unwrap());
const checkDiskRate = checkBy<number>(disk.bytesPerSecond.unwrap());
const checkNicRate = checkBy<number>(nic.bytesPerSecond);
const checkBurst = checkWhole(nic.burstSeconds);

const given = (text: string): boolean => text.trim() !== '';
const rateProblem = (text: string, check: (value: number) => string | null): string | null => {
  if (!given(text)) return null;
  const value = parseBytes(text, 'm');
  return value === null ? 'A size such as 100 MiB.' : check(value);
};

const burstProblem = (text: string, limited: boolean): string | null => {
  if (!given(text)) return null;
  return limited ? checkBurst(text.trim()) : 'Only of something that is limited.';
};

/** What is wrong, by member of the request; null where all is well. */
export const limitProblems = ({ diskIops, diskRate, nicRate, burst }: LimitsDraft): Record<string, string | null> => ({
  'limits.disk.iops': given(diskIops) ? checkIops(diskIops.trim()) : null,
  'limits.disk.bytesPerSecond': rateProblem(diskRate, checkDiskRate),
  'limits.nic.bytesPerSecond': rateProblem(nicRate, checkNicRate),
  'limits.disk.burstSeconds': burstProblem(burst, [diskIops, diskRate, nicRate].some(given)),
});

/** The part of the request that asks for them, of a draft in which nothing is wrong. */
export const limitsOfDraft = (draft: LimitsDraft): Pick<CreateFlavor, 'limits'> => {
  const burst = given(draft.burst) ? { burstSeconds: Number(draft.burst) } : {};
  const rate = (text: string): number => parseBytes(text, 'm') ?? 0;
  const limits = {
    ...((given(draft.diskIops) || given(draft.diskRate)) && {
      disk: {
        ...(given(draft.diskIops) && { iops: Number(draft.diskIops) }),
        ...(given(draft.diskRate) && { bytesPerSecond: rate(draft.diskRate) }),
        ...burst,
      },
    }),
    ...(given(draft.nicRate) && { nic: { bytesPerSecond: rate(draft.nicRate), ...burst } }),
  };
  return Object.keys(limits).length === 0 ? {} : { limits };
};

/** The options of `vcctl flavor create` that ask for the same. */
export const limitOptions = ({ diskIops, diskRate, nicRate, burst }: LimitsDraft): Options => ({
  'disk-iops': diskIops.trim(),
  'disk-rate': diskRate.replaceAll(' ', ''),
  ...(given(diskIops) || given(diskRate) ? { 'disk-burst': burst.trim() } : {}),
  'nic-rate': nicRate.replaceAll(' ', ''),
  ...(given(nicRate) ? { 'nic-burst': burst.trim() } : {}),
});
