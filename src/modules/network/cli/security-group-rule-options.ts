import type { Command } from 'commander';
import { usageFailure } from '../../../core/cli/cli-failure';
import type { BodyOf } from '../../../rest/rest-call';

export interface RuleOptions {
  egress?: boolean;
  ipv6?: boolean;
  protocol?: string;
  port?: string;
  icmpType?: string;
  icmpCode?: string;
  remote?: string;
  remoteGroup?: string;
  description?: string;
}

export const addRuleOptions = (command: Command): Command =>
  command
    .option('--egress', 'of flows that the port opens; without, of those that others open to it')
    .option('--ipv6', 'of IPv6; without, of IPv4')
    .option('--protocol <protocol>', 'tcp, udp, icmp, icmpv6, sctp and others by name, or any by number')
    .option('--port <port>', 'destination port or range, e.g. 443 or 8000-8100; needs a protocol that has ports')
    .option('--icmp-type <type>', '0 to 255')
    .option('--icmp-code <code>', '0 to 255; needs a type')
    .option('--remote <cidr>', 'the other end; anybody when missing')
    .option('--remote-group <security-group>', 'the other end: members of a group of the project')
    .option('--description <text>');

const number = (option: string, text: string): number => {
  if (!/^\d{1,5}$/.test(text)) throw usageFailure(`--${option}: "${text}" is no number`);
  return Number(text);
};

const portsOf = (text: string): { portMin: number; portMax: number } => {
  const [min = '', max = min, ...more] = text.split('-');
  if (more.length > 0) throw usageFailure(`--port: "${text}" is neither a port nor a range`);
  return { portMin: number('port', min), portMax: number('port', max) };
};

/** What the options say, as the server is asked. */
export const ruleOf = (options: RuleOptions): BodyOf<'post', '/security-groups/{ref}/rules'> => ({
  direction: options.egress === true ? 'egress' : 'ingress',
  ethertype: options.ipv6 === true ? 'ipv6' : 'ipv4',
  ...(options.protocol !== undefined && { protocol: options.protocol }),
  ...(options.port !== undefined && portsOf(options.port)),
  ...(options.icmpType !== undefined && { icmpType: number('icmp-type', options.icmpType) }),
  ...(options.icmpCode !== undefined && { icmpCode: number('icmp-code', options.icmpCode) }),
  ...(options.remote !== undefined && { remoteCidr: options.remote }),
  ...(options.remoteGroup !== undefined && { remoteGroup: options.remoteGroup }),
  ...(options.description !== undefined && { description: options.description }),
});
