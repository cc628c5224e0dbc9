import { checkAddress } from '../../lib/validate';

/** Addresses from what was typed, with spaces or commas between. */
export const serversOf = (text: string): string[] => text.split(/[\s,]+/).filter((server) => server !== '');

/** What is wrong with them, or null. */
export const checkServers = (text: string): string | null => {
  const servers = serversOf(text);
  if (servers.length > 3) return 'At most 3 servers.';
  return servers.map((server) => checkAddress(server)).find((problem) => problem !== null) ?? null;
};
