import { createSecurityGroupRule } from '../../../../src/modules/network/contract/security-group.api';
import type { Options } from '../../lib/command';
import type { CreateSecurityGroupRule, SecurityGroupRule } from '../../lib/types';
import { checkBy } from '../../lib/validate';

/** What is filled in to add a rule: texts, as they were typed. */
export interface RuleDraft {
  /** Empty: any. */
  protocol: string;
  /** One, or two with a hyphen between; empty: all. */
  ports: string;
  /** Whom it is about: `anybody`, `cidr` or `group`. */
  remote: 'anybody' | 'cidr' | 'group';
  remoteCidr: string;
  /** An id. */
  remoteGroup: string;
  description: string;
}

export const emptyRule: RuleDraft = {
  protocol: 'tcp',
  ports: '',
  remote: 'anybody',
  remoteCidr: '',
  remoteGroup: '',
  description: '',
};

/** Protocols that have ports. */
export const withPorts = ['tcp', 'udp', 'sctp'];

const checkCidr = checkBy<string>(createSecurityGroupRule.shape.remoteCidr, 'In CIDR form, such as 10.0.0.0/8.');
const range = /^(\d{1,5})(?:-(\d{1,5}))?$/;

/** Lowest and highest, both included; null when it is none. */
const portsIn = (text: string): [number, number] | null => {
  const [, min, max = min] = range.exec(text.trim()) ?? [];
  const [low, high] = [Number(min), Number(max)];
  return min !== undefined && low <= high && high <= 65_535 ? [low, high] : null;
};

/** What is wrong, by member of the draft; null where all is well. */
export const problemsOf = ({
  protocol,
  ports,
  remote,
  remoteCidr,
  remoteGroup,
}: RuleDraft): Record<string, string | null> => ({
  ports:
    !withPorts.includes(protocol) || ports.trim() === '' || portsIn(ports) !== null
      ? null
      : 'A port such as 443, or a range such as 8000-8100.',
  remoteCidr: remote === 'cidr' ? checkCidr(remoteCidr.trim()) : null,
  remoteGroup: remote === 'group' && remoteGroup === '' ? 'Choose a group.' : null,
});

/** The request that the draft is; null while something is wrong. */
export const bodyOf = (draft: RuleDraft, direction: SecurityGroupRule['direction']): CreateSecurityGroupRule | null => {
  if (Object.values(problemsOf(draft)).some((problem) => problem !== null)) return null;
  const { protocol, ports, remote, remoteCidr, remoteGroup, description } = draft;
  const found = withPorts.includes(protocol) ? portsIn(ports) : null;
  return {
    direction,
    ethertype: remote === 'cidr' && remoteCidr.includes(':') ? 'ipv6' : 'ipv4',
    ...(protocol !== '' && { protocol }),
    ...(found && { portMin: found[0], portMax: found[1] }),
    ...(remote === 'cidr' && { remoteCidr: remoteCidr.trim() }),
    ...(remote === 'group' && { remoteGroup }),
    description,
  };
};

/** The options of `vcctl security-group rule add` that ask for the same. */
export const commandOptions = (
  { protocol, ports, remote, remoteCidr, remoteGroup, description }: RuleDraft,
  direction: SecurityGroupRule['direction'],
): Options => ({
  egress: direction === 'egress',
  ipv6: remote === 'cidr' && remoteCidr.includes(':'),
  protocol,
  port: withPorts.includes(protocol) ? ports.trim() : '',
  remote: remote === 'cidr' ? remoteCidr.trim() : '',
  'remote-group': remote === 'group' ? remoteGroup : '',
  description,
});
