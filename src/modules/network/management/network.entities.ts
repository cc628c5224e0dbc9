import { AddressCooldownEntity } from './address-cooldown.entity';
import { HostNetworkGenerationEntity } from './host-network-generation.entity';
import { NetworkEntity } from './network.entity';
import { PortEntity } from './port.entity';

export const networkEntities = [NetworkEntity, PortEntity, AddressCooldownEntity, HostNetworkGenerationEntity];
