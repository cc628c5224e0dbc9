import type { ChFacts } from './ch-probe';

/** What an operator shall know of a VMM that works; empty when there is nothing. */
export const chWarning = ({
  usable,
  landlock,
  landlockReason,
  names,
}: Pick<ChFacts, 'usable' | 'landlock' | 'landlockReason' | 'names'>): string =>
  [
    ...(usable && !landlock ? [`Cloud Hypervisor does not confine itself by Landlock: ${landlockReason}.`] : []),
    ...(usable && !names
      ? [
          "Before version 53, Cloud Hypervisor cannot name itself in the firmware's tables: guests with cloud-init 23.3 or 23.4 get their key and user data only by a config drive.",
        ]
      : []),
  ].join(' ');
