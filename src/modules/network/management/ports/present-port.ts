import type { Port } from '../../contract/network.api';
import type { ShownPort } from './port.repository';

/** @param operator sees what the host's programs said, which is for those who run it */
export const presentPort = (p: ShownPort, operator: boolean): Port => ({
  id: p.id,
  projectId: p.projectId,
  networkId: p.networkId,
  network: p.network,
  instanceId: p.instanceId,
  position: p.position,
  mac: p.mac,
  address: p.address,
  securityGroups: p.groups,
  state: p.state,
  message: operator || p.message === '' ? p.message : 'Its host could not set it up. An administrator sees why.',
});
