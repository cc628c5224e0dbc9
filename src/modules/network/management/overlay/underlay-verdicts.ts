import type { HostConditionFact } from '../../../host/contract/host.ports';

/** Bytes that the overlay puts around a packet of a guest: Ethernet, VXLAN, UDP and IPv4. */
const overlayHeader = 50;

/** What a host says of itself, and what is known of it. */
export interface UnderlayFacts {
  hostId: string;
  name: string;
  /** Null: it has none that other hosts could reach. */
  address: string | null;
  mtu: number | null;
  /** It is heard at the moment. */
  heard: boolean;
}

export interface UnderlayVerdict {
  usable: boolean;
  fact: HostConditionFact;
}

type Status = HostConditionFact['status'];

const overlay = (status: Status, reason: string, message: string): HostConditionFact => ({
  type: 'NetworkOverlay',
  status,
  reason,
  message,
});

/**
 * Which hosts take part in networks that cross hosts. Of several with one address none does, for nobody could tell what
 * comes from which, unless all but one are silent: those are hosts that were made anew, and what they were.
 *
 * @param hostCount all hosts, those that say nothing of it included
 * @param largestMtu of all networks, 0 when there are none
 */
export const judgeUnderlays = (
  facts: readonly UnderlayFacts[],
  hostCount: number,
  largestMtu: number,
): Map<string, UnderlayVerdict> => {
  const byAddress = Map.groupBy(facts, ({ address }) => address);
  return new Map(
    facts.map((host) => [host.hostId, judge(host, byAddress.get(host.address) ?? [], hostCount, largestMtu)]),
  );
};

const judge = (
  host: UnderlayFacts,
  sharing: readonly UnderlayFacts[],
  hostCount: number,
  largestMtu: number,
): UnderlayVerdict => {
  if (host.address === null || host.mtu === null)
    return hostCount === 1
      ? { usable: false, fact: overlay('true', 'OnlyHost', 'it is the only host') }
      : apart('NoUnderlay', 'it has no address that other hosts reach; set modules.network.underlayAddress there');
  const others = sharing.filter(({ hostId }) => hostId !== host.hostId);
  if (others.length > 0 && (!host.heard || others.some(({ heard }) => heard))) {
    const named = others.map(({ name }) => name).sort();
    return apart(
      'AddressShared',
      `its underlay address ${host.address} is that of ${named.slice(0, 5).join(', ')} too; set modules.network.underlayAddress there`,
    );
  }
  const room = host.mtu - overlayHeader;
  const fact =
    room < largestMtu
      ? overlay(
          'false',
          'MtuTooSmall',
          `packets of up to ${room} bytes cross its underlay, and there are networks of ${largestMtu}; raise the MTU of its underlay to ${largestMtu + overlayHeader}, or use networks of at most ${room}`,
        )
      : overlay('true', 'Connected', `networks cross to it at ${host.address}`);
  return { usable: true, fact };
};

const apart = (reason: string, why: string): UnderlayVerdict => ({
  usable: false,
  fact: overlay('false', reason, `networks do not cross to it: ${why}`),
});
