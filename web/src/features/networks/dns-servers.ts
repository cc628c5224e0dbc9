import { createNetwork } from '../../../../src/modules/network/contract/network.api';
import { checkBy } from '../../lib/validate';
import { checkAddress } from './address-rules';

const checkAll = checkBy<string[]>(createNetwork.shape.dns, { too_big: 'At most 3 servers.' });

/** Addresses from what was typed, with spaces or commas between. */
export const serversOf = (text: string): string[] => text.split(/[\s,]+/).filter((server) => server !== '');

/** What is wrong with them, or null. */
export const checkServers = (text: string): string | null => {
  const servers = serversOf(text);
  return servers.map((server) => checkAddress(server)).find((problem) => problem !== null) ?? checkAll(servers);
};
