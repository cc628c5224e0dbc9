/** A port with what decides about its default route. */
export interface Nic {
  id: string;
  instanceId: string;
  position: number;
  nat: boolean;
}

/**
 * The ports that give their guest its default route: one per instance, for two would compete. It is the first NIC whose network has a way out.
 */
export const waysOut = (nics: readonly Nic[]): Set<string> => {
  const first = new Map<string, Nic>();
  for (const nic of nics) {
    const best = first.get(nic.instanceId);
    if (nic.nat && (!best || nic.position < best.position)) first.set(nic.instanceId, nic);
  }
  return new Set([...first.values()].map((nic) => nic.id));
};
