import { v7 as timeOrderedUuid } from 'uuid';
import { formatIpv4, formatSubnet } from '../../contract/ipv4';
import { checkDns, checkSubnet } from '../networks/subnet-rules';
import type { SubnetEntity } from './subnet.entity';

/** What is asked for, and where in the request it stands. */
interface Asked {
  name: string;
  cidr: string;
  gateway: string | undefined;
  dns: readonly string[];
  /** The member of the request that `cidr` is. */
  member: 'subnet' | 'cidr';
}

/**
 * A subnet of the network as it is asked for. Throws 422 at the member for addresses that cannot be, see `checkSubnet`
 * and `checkDns`.
 */
export const newSubnet = (
  { name, cidr, gateway, dns, member }: Asked,
  network: { id: string; projectId: string },
  linkPool: string,
  createdAt: Date,
): SubnetEntity => {
  const checked = checkSubnet(cidr, gateway, linkPool, { subnet: `body.${member}`, gateway: 'body.gateway' });
  const subnet = { cidr: formatSubnet(checked.subnet), gateway: formatIpv4(checked.gateway) };
  checkDns(dns, subnet, linkPool);
  return {
    id: timeOrderedUuid(),
    projectId: network.projectId,
    networkId: network.id,
    name,
    ...subnet,
    dns: [...new Set(dns)],
    nextAddress: formatIpv4(checked.subnet.first + 1),
    createdAt,
  };
};
