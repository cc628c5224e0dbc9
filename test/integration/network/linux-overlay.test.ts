import type { HostNetworkDocument } from '../../../src/modules/network/contract/host-document';
import type { NetworkOverlay } from '../../../src/modules/network/contract/overlay-document';
import { hostTable } from '../../../src/modules/network/node/drivers/linux/names';
import { present } from '../../support/plain-networks';
import { HostLab } from './host-lab';

jest.setTimeout(120_000);

let lab: HostLab;
let generation = 0;
let netns: string;

const [m1, m2] = ['56:43:53:00:09:01', '56:43:53:00:09:02'];
const remotes: NetworkOverlay['remotes'] = [
  { mac: m1, addresses: ['10.77.0.21'], host: '198.51.100.3' },
  { mac: m2, addresses: ['10.77.0.22'], host: '198.51.100.4' },
];
const own = '198.51.100.2';

/** One network with a port, that crosses to other hosts; `crossing` null: not. */
const document = (crossing: Partial<NetworkOverlay> | null, address = own): HostNetworkDocument => {
  const network = lab.network(1, [lab.port(1, '10.77.0.11')], { nat: false });
  const plain = present({
    generation: (generation += 1),
    networks: [network],
    egress: { allow: [], deny: [], hosts: [] },
  });
  if (crossing === null) return plain;
  const overlay = { vni: 4711, remotes, ...crossing };
  return { ...plain, underlay: { address, port: 4789 }, networks: plain.networks.map((n) => ({ ...n, overlay })) };
};
const apply = async (wanted: HostNetworkDocument): Promise<void> => {
  const { ports } = await lab.apply(wanted);
  expect(ports.map(({ state, message }) => [state, message])).toEqual([['active', '']]);
};

/** What the kernel has, as lines. */
const entries = async (): Promise<string[]> => {
  const shown = await lab.in(lab.host, 'bridge', '-n', netns, 'fdb', 'show', 'dev', 'vx0');
  const neighbours = await lab.in(lab.host, 'ip', '-n', netns, 'neigh', 'show', 'nud', 'permanent');
  return [
    ...shown.split('\n').filter((line) => line.includes('56:43:53') || line.includes('00:00:00:00:00:00')),
    ...neighbours.split('\n').filter((line) => line !== ''),
  ]
    .map((line) => line.replace(/ link-netnsid \d+| master vbr| offload| static| PERMANENT/g, '').trim())
    .sort();
};
const all = [
  '10.77.0.21 dev vbr lladdr 56:43:53:00:09:01',
  '10.77.0.22 dev vbr lladdr 56:43:53:00:09:02',
  '56:43:53:00:09:01',
  '56:43:53:00:09:01 dst 198.51.100.3 self',
  '56:43:53:00:09:02',
  '56:43:53:00:09:02 dst 198.51.100.4 self',
];
const device = (): Promise<string> => lab.in(lab.host, 'ip', '-n', netns, '-d', 'link', 'show', 'vx0').catch(() => '');
const indexOf = async (): Promise<string> => (await device()).split(':')[0] ?? '';
const rules = (): Promise<string> =>
  lab.in(lab.host, 'nft', 'list', 'table', 'inet', hostTable(lab.hash)).catch(() => '');

beforeAll(async () => {
  lab = await HostLab.start('overlay');
  netns = lab.netnsOf({ id: lab.network(1, []).id });
  await lab.startAgent();
});
afterAll(() => lab.close());

describe('a network on the linux driver that crosses to other hosts', () => {
  it('has a device with an entry for each port elsewhere, and takes from their hosts only', async () => {
    await apply(document({}));
    expect(await entries()).toEqual(all);
    expect(await device()).toMatch(
      /mtu 1450 .*master vbr[\s\S]*vxlan id 4711 local 198.51.100.2 .*dstport 4789 nolearning/,
    );
    expect(await rules()).toContain('elements = { 198.51.100.3, 198.51.100.4 }');
    const flags = await lab.in(lab.host, 'bridge', '-n', netns, '-d', 'link', 'show', 'dev', 'vx0');
    for (const off of ['learning off', 'flood off', 'mcast_flood off', 'bcast_flood off', 'neigh_suppress on'])
      expect(flags).toContain(off);
  });

  it('changes entries one by one, on the same device', async () => {
    const index = await indexOf();
    const [first, second] = remotes;
    await apply(document({ remotes: first ? [first] : [] }));
    expect(await entries()).toEqual(all.filter((line) => !line.includes('09:02')));
    expect(await rules()).toContain('elements = { 198.51.100.3 }');
    await apply(
      document({ remotes: [...(first ? [first] : []), ...(second ? [{ ...second, host: '198.51.100.9' }] : [])] }),
    );
    expect(await entries()).toContain('56:43:53:00:09:02 dst 198.51.100.9 self');
    await apply(document({}));
    expect(await entries()).toEqual(all);
    expect(await indexOf()).toBe(index);
  });

  it('is repaired: entries taken away, put there or bent, a switch turned, the device gone', async () => {
    const change = (...args: string[]): Promise<string> => lab.in(lab.host, 'bridge', '-n', netns, ...args);
    for (const damage of [
      () => change('fdb', 'del', m1, 'dev', 'vx0', 'self'),
      () => change('fdb', 'del', m2, 'dev', 'vx0', 'master'),
      () => change('fdb', 'replace', m2, 'dev', 'vx0', 'self', 'dst', '198.51.100.66'),
      () => change('fdb', 'append', '00:00:00:00:00:00', 'dev', 'vx0', 'self', 'dst', '198.51.100.66'),
      () =>
        lab.in(
          lab.host,
          'ip',
          '-n',
          netns,
          'neigh',
          'replace',
          '10.77.0.21',
          'lladdr',
          m2,
          'dev',
          'vbr',
          'nud',
          'permanent',
        ),
      () => lab.in(lab.host, 'ip', '-n', netns, 'link', 'del', 'vx0'),
    ]) {
      await damage();
      expect(await entries().catch(() => [])).not.toEqual(all);
      await lab.call({ method: 'verify' });
      expect(await entries()).toEqual(all);
    }
    await change('link', 'set', 'dev', 'vx0', 'flood', 'on');
    await lab.call({ method: 'verify' });
    expect(await change('-d', 'link', 'show', 'dev', 'vx0')).toContain('flood off');
  });

  it('stays as it is when the agent is killed and started again', async () => {
    const index = await indexOf();
    await lab.stopAgent(true);
    await lab.startAgent();
    await lab.call({ method: 'verify' });
    expect(await entries()).toEqual(all);
    expect(await indexOf()).toBe(index);
  });

  it('follows the host to another address of its own', async () => {
    await apply(document({}, '198.51.100.22'));
    expect(await device()).toContain('local 198.51.100.22');
    expect(await entries()).toEqual(all);
    await apply(document({}));
    expect(await device()).toContain('local 198.51.100.2 ');
  });

  it('fails with what the kernel says where the host has its identifier already', async () => {
    await lab.in(
      lab.host,
      'ip',
      'link',
      'add',
      'taken',
      'type',
      'vxlan',
      'id',
      '4712',
      'local',
      own,
      'dstport',
      '4789',
    );
    const { ports } = await lab.apply(document({ vni: 4712 }));
    expect(ports.map(({ state }) => state)).toEqual(['error']);
    expect(ports[0]?.message).toContain('already exists');
    await lab.in(lab.host, 'ip', 'link', 'del', 'taken');
    await lab.call({ method: 'verify' });
    expect(await entries()).toEqual(all);
  });

  it('ends at its host when it crosses no longer, and all of it goes with its last port', async () => {
    await apply(document(null));
    expect(await device()).toBe('');
    await lab.call({ method: 'verify' });
    expect(await lab.in(lab.host, 'ip', '-n', netns, 'neigh', 'show', 'nud', 'permanent')).toBe('');
    expect(await rules()).toBe('');
    await apply(document({}));
    expect(await entries()).toEqual(all);
    await lab.apply({
      generation: (generation += 1),
      networks: [],
      routers: [],
      egress: { allow: [], deny: [], hosts: [] },
    });
    expect(await lab.leftovers()).toEqual([]);
    expect(await lab.in(lab.host, 'ip', '-d', 'link', 'show', 'type', 'vxlan')).toBe('');
  });
});
