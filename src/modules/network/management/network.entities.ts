import { HostNetworkGenerationEntity } from './hosts/host-network-generation.entity';
import { NetworkEntity } from './networks/network.entity';
import { AddressCooldownEntity } from './ports/address-cooldown.entity';
import { PortAddressEntity } from './ports/port-address.entity';
import { PortEntity } from './ports/port.entity';
import { RouterInterfaceEntity } from './routers/router-interface.entity';
import { RouterEntity } from './routers/router.entity';
import { securityGroupEntities } from './security-groups/security-group.entities';
import { SubnetEntity } from './subnets/subnet.entity';

export const networkEntities = [
  NetworkEntity,
  SubnetEntity,
  RouterEntity,
  RouterInterfaceEntity,
  PortEntity,
  PortAddressEntity,
  AddressCooldownEntity,
  HostNetworkGenerationEntity,
  ...securityGroupEntities,
];
