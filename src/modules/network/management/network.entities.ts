import { AddressCooldownEntity } from './ports/address-cooldown.entity';
import { HostNetworkGenerationEntity } from './hosts/host-network-generation.entity';
import { NetworkEntity } from './networks/network.entity';
import { PortEntity } from './ports/port.entity';

export const networkEntities = [NetworkEntity, PortEntity, AddressCooldownEntity, HostNetworkGenerationEntity];
