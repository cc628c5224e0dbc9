import { NotUnderstood } from '../../../core/m2m/verbs/not-understood';
import type { OlderForm } from '../../../core/m2m/verbs/verb';
import {
  type HostNetworkDocument,
  hostNetworkDocument,
  type NetworkDocument,
  type PortDocument,
} from './host-document';
import type { RuleDocument } from './security-group.document';

/** Of every protocol and every part of it. */
const whole = (rule: RuleDocument, direction: RuleDocument['direction']): boolean =>
  rule.direction === direction && rule.ethertype === 'ipv4' && rule.protocol === null;
const anybody = ({ cidr, group }: RuleDocument): boolean => group === null && (cidr === null || cidr === '0.0.0.0/0');

/** The networks that packets to a port of this one come from. */
const around = (network: NetworkDocument, { networks, routers }: HostNetworkDocument): NetworkDocument[] => {
  const router = routers.find(({ interfaces }) => interfaces.some(({ networkId }) => networkId === network.id));
  return networks.filter(
    ({ id }) => id === network.id || router?.interfaces.some(({ networkId }) => networkId === id) === true,
  );
};

/**
 * Whether an agent of before groups, which lets all out and all of the network and those joined with it in, lets nothing
 * pass that the port's groups do not: they allow everything out, and in from everybody, or from a group that all other
 * ports are in that are there.
 */
const asBefore = (port: PortDocument, network: NetworkDocument, document: HostNetworkDocument): boolean => {
  const { securityGroups = [] } = document;
  const rules = securityGroups.filter(({ id }) => port.securityGroups?.includes(id)).flatMap((group) => group.rules);
  const inGroup = (group: string | null): boolean =>
    group !== null &&
    around(network, document).every(({ id, ports, overlay }) => {
      const known = securityGroups.find((one) => one.id === group)?.members.find(({ networkId }) => networkId === id);
      return (
        ports.every((other) => other.id === port.id || other.securityGroups?.includes(group) === true) &&
        (overlay?.remotes ?? []).every(({ addresses }) => addresses.every((one) => known?.addresses.includes(one)))
      );
    });
  return (
    rules.some((rule) => whole(rule, 'egress') && anybody(rule)) &&
    rules.some((rule) => whole(rule, 'ingress') && (anybody(rule) || inGroup(rule.group)))
  );
};

/**
 * For an agent that knows no security groups. Ports that are in the default group alone, with its rules as they were
 * made, mean the same to it. All else it would let through: it is refused, and keeps the document that it has.
 */
export const withoutSecurityGroups: OlderForm = (args) => {
  const document = hostNetworkDocument.parse(args);
  const { securityGroups: _groups, networks, ...rest } = document;
  return {
    ...rest,
    networks: networks.map((network) => ({
      ...network,
      ports: network.ports.map((port) => {
        const { securityGroups, ...without } = port;
        if (securityGroups !== undefined && !asBefore(port, network, document))
          throw new NotUnderstood('security groups of ports');
        return without;
      }),
    })),
  };
};
