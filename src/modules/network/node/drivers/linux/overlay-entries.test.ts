import { diffEntries, type OverlayEntries } from './overlay-entries';

const [m1, m2] = ['56:43:53:00:00:01', '56:43:53:00:00:02'];
const remotes = [
  { mac: m1, addresses: ['10.0.0.1', '10.0.0.2'], host: '192.0.2.1' },
  { mac: m2, addresses: ['10.0.0.3'], host: '192.0.2.2' },
];
const nothing = (): OverlayEntries => ({
  portAsWanted: false,
  bridged: new Set(),
  hosts: new Map(),
  neighbours: new Map(),
});
const everything = (): OverlayEntries => ({
  portAsWanted: true,
  bridged: new Set([m1, m2]),
  hosts: new Map([
    [m1, ['192.0.2.1']],
    [m2, ['192.0.2.2']],
  ]),
  neighbours: new Map([
    ['10.0.0.1', m1],
    ['10.0.0.2', m1],
    ['10.0.0.3', m2],
  ]),
});
const none = { bridge: [], neighbours: [] };

describe('entries for ports on other hosts', () => {
  it('are all made where there are none', () => {
    expect(diffEntries(remotes, nothing())).toEqual({
      bridge: [
        'link set dev vx0 learning off flood off mcast_flood off bcast_flood off neigh_suppress on',
        `fdb replace ${m1} dev vx0 self static dst 192.0.2.1`,
        `fdb replace ${m1} dev vx0 master static`,
        `fdb replace ${m2} dev vx0 self static dst 192.0.2.2`,
        `fdb replace ${m2} dev vx0 master static`,
      ],
      neighbours: [
        `neigh replace 10.0.0.1 lladdr ${m1} dev vbr nud permanent`,
        `neigh replace 10.0.0.2 lladdr ${m1} dev vbr nud permanent`,
        `neigh replace 10.0.0.3 lladdr ${m2} dev vbr nud permanent`,
      ],
    });
  });

  it('are not touched where all is well', () => {
    expect(diffEntries(remotes, everything())).toEqual(none);
  });

  it('come and go one by one', () => {
    expect(diffEntries(remotes.slice(0, 1), everything())).toEqual({
      bridge: [`fdb del ${m2} dev vx0 self dst 192.0.2.2`, `fdb del ${m2} dev vx0 master`],
      neighbours: ['neigh del 10.0.0.3 dev vbr'],
    });
  });

  it('lead to one host only: a port that moved, and what somebody added', () => {
    const actual = everything();
    actual.hosts.set(m1, ['192.0.2.9']).set(m2, ['192.0.2.2', '192.0.2.7']);
    expect(diffEntries(remotes, actual).bridge).toEqual([
      `fdb del ${m2} dev vx0 self dst 192.0.2.2`,
      `fdb del ${m2} dev vx0 self dst 192.0.2.7`,
      `fdb replace ${m1} dev vx0 self static dst 192.0.2.1`,
      `fdb replace ${m2} dev vx0 self static dst 192.0.2.2`,
    ]);
  });

  it('are put right: an address with another MAC, a default way, a bridge that forgot', () => {
    const actual = everything();
    actual.neighbours.set('10.0.0.3', m1).set('10.0.0.99', m1);
    actual.hosts.set('00:00:00:00:00:00', ['192.0.2.66']);
    actual.bridged.delete(m1);
    expect(diffEntries(remotes, actual)).toEqual({
      bridge: [`fdb del 00:00:00:00:00:00 dev vx0 self dst 192.0.2.66`, `fdb replace ${m1} dev vx0 master static`],
      neighbours: ['neigh del 10.0.0.99 dev vbr', `neigh replace 10.0.0.3 lladdr ${m2} dev vbr nud permanent`],
    });
  });
});
