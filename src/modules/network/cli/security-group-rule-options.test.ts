import { CliFailure } from '../../../core/cli/cli-failure';
import { ruleOf } from './security-group-rule-options';

describe('the options of a rule', () => {
  it('say what the server is asked', () => {
    expect(ruleOf({})).toEqual({ direction: 'ingress', ethertype: 'ipv4' });
    expect(ruleOf({ egress: true, ipv6: true, protocol: 'tcp', port: '8000-8100', remote: '::/0' })).toEqual({
      direction: 'egress',
      ethertype: 'ipv6',
      protocol: 'tcp',
      portMin: 8000,
      portMax: 8100,
      remoteCidr: '::/0',
    });
    expect(ruleOf({ protocol: 'tcp', port: '443', remoteGroup: 'web', description: 'https' })).toMatchObject({
      portMin: 443,
      portMax: 443,
      remoteGroup: 'web',
      description: 'https',
    });
    expect(ruleOf({ protocol: 'icmp', icmpType: '8', icmpCode: '0' })).toMatchObject({ icmpType: 8, icmpCode: 0 });
  });

  it.each([{ port: 'https' }, { port: '1-2-3' }, { port: '80-' }, { port: '123456' }, { icmpType: '-1' }])(
    'are refused that are none: %j',
    (options) => {
      expect(() => ruleOf(options)).toThrow(CliFailure);
    },
  );
});
