/** A port with what decides about its default route. */
export interface Nic {
  id: string;
  instanceId: string;
  position: number;
  nat: boolean;
  /** Its user asked for it. */
  defaultRoute: boolean;
}

/**
 * The ports that give their guest its default route: one per instance, for two would compete. It is the NIC for which
 * its user asked, else the first whose network has a way out.
 */
export const waysOut = (nics: readonly Nic[]): Set<string> => {
  const first = new Map<string, Nic>();
  for (const nic of nics) {
    const best = first.get(nic.instanceId);
    if (!nic.nat) continue;
    const better = !best || (nic.defaultRoute === best.defaultRoute ? nic.position < best.position : nic.defaultRoute);
    if (better) first.set(nic.instanceId, nic);
  }
  return new Set([...first.values()].map((nic) => nic.id));
};
