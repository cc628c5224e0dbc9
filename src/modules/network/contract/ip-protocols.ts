/** Protocols of IP that rules may name, as IANA numbers them; every other one goes by its number. */
const numbers: Readonly<Record<string, number>> = {
  icmp: 1,
  igmp: 2,
  ipip: 4,
  tcp: 6,
  egp: 8,
  udp: 17,
  dccp: 33,
  ipv6: 41,
  rsvp: 46,
  gre: 47,
  esp: 50,
  ah: 51,
  icmpv6: 58,
  ospf: 89,
  pim: 103,
  vrrp: 112,
  l2tp: 115,
  sctp: 132,
  udplite: 136,
};
const names = new Map(Object.entries(numbers).map(([name, number]) => [number, name]));

export const icmp = 1;
export const icmpv6 = 58;

/** Of protocols that have ports. */
const withPorts: ReadonlySet<number> = new Set([6, 17, 33, 132, 136]);

/** Names that `protocolNumber` knows, in order. */
export const protocolNames: readonly string[] = Object.keys(numbers);

/** `tcp`, `TCP`, `6` or 6 as a number from 0 to 255; null for what is none. */
export const protocolNumber = (protocol: string | number): number | null => {
  const text = String(protocol).toLowerCase();
  if (Object.hasOwn(numbers, text)) return numbers[text] ?? null;
  return /^\d{1,3}$/.test(text) && Number(text) <= 255 ? Number(text) : null;
};

/** Its name, or its number in digits. */
export const protocolName = (number: number): string => names.get(number) ?? String(number);

export const hasPorts = (number: number): boolean => withPorts.has(number);
