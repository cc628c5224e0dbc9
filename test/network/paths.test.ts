import { NetworkLab } from './network-lab';

const minutes = 60_000;
jest.setTimeout(minutes);

/** Where endpoints are: names of hosts and networks. Two tenants have the same addresses. */
const endpoints = {
  a1: { host: 'h1', network: 'n1' },
  a2: { host: 'h1', network: 'n1' },
  b1: { host: 'h2', network: 'n1' },
  o1: { host: 'h1', network: 'n1', project: 'other' },
  o2: { host: 'h1', network: 'n1', project: 'other' },
  p1: { host: 'h2', network: 'n1', project: 'other' },
} as const;
type Name = keyof typeof endpoints;

interface Path {
  name: string;
  from: Name;
  to: Name | 'outside';
}

const paths: Path[] = [
  { name: 'same host, same subnet', from: 'a1', to: 'a2' },
  { name: 'same host, same subnet, of another tenant with the same addresses', from: 'o1', to: 'o2' },
  { name: 'two hosts, same subnet', from: 'a1', to: 'b1' },
  { name: 'two hosts, same subnet, of another tenant with the same addresses', from: 'o1', to: 'p1' },
  { name: 'out through source NAT', from: 'a1', to: 'outside' },
  { name: 'out through source NAT, from another tenant with the same addresses', from: 'o1', to: 'outside' },
];

const outside = '198.51.100.1';

describe('packets that pass', () => {
  let lab: NetworkLab;

  beforeAll(async () => {
    lab = await NetworkLab.start('paths', ['h1', 'h2']);
    for (const project of ['default', 'other']) await lab.network('n1', '10.30.0.0/24', project);
    for (const [name, placed] of Object.entries(endpoints)) {
      const endpoint = await lab.add(name, placed);
      for (const kind of ['tcp', 'udp'] as const) await endpoint.serve(kind, 7000);
    }
    await lab.connected();
    const out = lab.place('out', 'outside');
    for (const kind of ['tcp', 'udp'] as const) await out.serve(kind, 7000, outside);
  }, 4 * minutes);
  afterAll(() => lab?.close(), 2 * minutes);

  const addressOf = ({ to }: Path): string => (to === 'outside' ? outside : lab.of(to).address);

  it('are those of tenants with the same addresses too', () => {
    for (const [one, same] of [
      ['a1', 'o1'],
      ['b1', 'p1'],
    ] as const)
      expect(lab.of(one).address).toBe(lab.of(same).address);
  });

  it.each(paths)('$name: ping', async (path) => {
    expect(await lab.of(path.from).ping(addressOf(path))).toBe(true);
  });

  it.each(paths)('$name: TCP', async (path) => {
    expect(await lab.of(path.from).ask('tcp', addressOf(path), 7000)).toBe(`${path.to}\n`);
  });

  it.each(paths)('$name: UDP', async (path) => {
    expect(await lab.of(path.from).ask('udp', addressOf(path), 7000)).toBe(`${path.to}\n`);
  });

  it.each(paths)('$name: packets as large as DHCP said, and no larger ones, unfragmented', async (path) => {
    const { mtu } = (await lab.of(path.from).lease()) ?? { mtu: 0 };
    expect(mtu).toBeGreaterThanOrEqual(1280);
    expect(await lab.of(path.from).ping(addressOf(path), { bytes: mtu })).toBe(true);
    expect(await lab.of(path.from).ping(addressOf(path), { bytes: mtu + 1 })).toBe(false);
  });

  it(
    'leave nothing behind when their instances are deleted',
    async () => {
      expect(await lab.leftBehind([{ name: 'n1' }, { name: 'n1', project: 'other' }])).toEqual([]);
    },
    2 * minutes,
  );
});
