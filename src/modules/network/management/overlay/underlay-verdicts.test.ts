import { judgeUnderlays, type UnderlayFacts } from './underlay-verdicts';

const host = (name: string, more: Partial<UnderlayFacts> = {}): UnderlayFacts => ({
  hostId: name,
  name,
  address: `192.0.2.${name.length}`,
  mtu: 1500,
  heard: true,
  ...more,
});
const verdicts = (facts: UnderlayFacts[], hosts = facts.length, mtu = 1450): Record<string, string> =>
  Object.fromEntries(
    [...judgeUnderlays(facts, hosts, mtu)].map(([id, { usable, fact }]) => [
      id,
      `${usable ? 'takes part' : 'apart'}, ${fact.status} ${fact.reason}`,
    ]),
  );

describe('hosts take part in networks that cross hosts', () => {
  it('when they have an address of their own, silent ones too', () => {
    expect(verdicts([host('a'), host('bb', { heard: false })])).toEqual({
      a: 'takes part, true Connected',
      bb: 'takes part, true Connected',
    });
  });

  it('not without an address, which does not matter to the only host', () => {
    const none = { address: null, mtu: null };
    expect(verdicts([host('a', none), host('bb')])['a']).toBe('apart, false NoUnderlay');
    expect(verdicts([host('a', none)])).toEqual({ a: 'apart, true OnlyHost' });
    expect(verdicts([host('a', none)], 2)).toEqual({ a: 'apart, false NoUnderlay' });
  });

  it('not when two that are heard have one address, and the message names the other', () => {
    const facts = [host('a'), host('b'), host('cc')];
    expect(verdicts(facts)).toEqual({
      a: 'apart, false AddressShared',
      b: 'apart, false AddressShared',
      cc: 'takes part, true Connected',
    });
    expect(judgeUnderlays(facts, 3, 1450).get('a')?.fact.message).toContain('that of b too');
  });

  it('in the place of a silent one that had their address, but of silent ones none', () => {
    expect(verdicts([host('a'), host('b', { heard: false })])).toEqual({
      a: 'takes part, true Connected',
      b: 'apart, false AddressShared',
    });
    expect(verdicts([host('a', { heard: false }), host('b', { heard: false })])).toEqual({
      a: 'apart, false AddressShared',
      b: 'apart, false AddressShared',
    });
  });

  it('and say so when there are networks with larger packets than their underlay carries', () => {
    expect(verdicts([host('a', { mtu: 1550 }), host('bb', { mtu: 1549 })], 2, 1500)).toEqual({
      a: 'takes part, true Connected',
      bb: 'takes part, false MtuTooSmall',
    });
  });
});
