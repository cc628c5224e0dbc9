import type { Principal } from '../../../../core/auth/principal';
import type { Op } from '../../../../core/db/rows/op';
import { forbidden, unprocessable } from '../../../../core/errors/problem';
import { seesHosts } from '../../../host/contract/sees-hosts';
import type { Hosts } from '../../../host/contract/host.ports';

/**
 * The host that `ref` (id or name) means. 403 for who may not know which hosts there are; 422 `unknown_host` at `path`.
 */
export const hostIdOf = async (
  hosts: Hosts,
  op: Op,
  principal: Principal,
  ref: string,
  path: string,
): Promise<string> => {
  if (!seesHosts(principal)) throw forbidden('host:read');
  const host = (await hosts.all(op)).find((h) => h.id === ref.toLowerCase() || h.name === ref);
  if (!host) throw unprocessable(path, 'unknown_host', `There is no host "${ref.slice(0, 63)}".`);
  return host.id;
};
