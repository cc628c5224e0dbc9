import type { Options } from '../../lib/command';
import type { CreateNetwork } from '../../lib/types';
import { checkName } from '../../lib/validate';
import { checkAddress, checkSubnet } from './address-rules';
import { checkServers, serversOf } from './dns-servers';

/** What is filled in to create a network: texts, as they were typed. */
export interface NetworkDraft {
  name: string;
  subnet: string;
  /** Empty: the first usable address. */
  gateway: string;
  dns: string;
  nat: boolean;
}

export const emptyNetwork: NetworkDraft = { name: '', subnet: '10.10.0.0/24', gateway: '', dns: '', nat: true };

/** What is wrong, by member of the request; null where all is well. */
export const problemsOf = ({ name, subnet, gateway, dns }: NetworkDraft): Record<string, string | null> => ({
  name: checkName(name),
  subnet: checkSubnet(subnet.trim()),
  gateway: gateway.trim() === '' ? null : checkAddress(gateway.trim(), subnet.trim()),
  dns: checkServers(dns),
});

/** The request that the draft is; null while something is wrong. */
export const bodyOf = (draft: NetworkDraft): CreateNetwork | null => {
  if (Object.values(problemsOf(draft)).some((p) => p !== null)) return null;
  const { name, subnet, gateway, dns, nat } = draft;
  const servers = serversOf(dns);
  return {
    name,
    subnet: subnet.trim(),
    nat,
    ...(gateway.trim() === '' ? {} : { gateway: gateway.trim() }),
    ...(servers.length === 0 ? {} : { dns: servers }),
  };
};

/** The options of `vcctl network create` that ask for the same. */
export const commandOptions = ({ subnet, gateway, dns, nat }: NetworkDraft): Options => ({
  subnet: subnet.trim(),
  gateway: gateway.trim(),
  dns: serversOf(dns),
  'no-nat': !nat,
});
