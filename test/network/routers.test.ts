import { eventually } from '../support/eventually';
import { NetworkLab } from './network-lab';

const minutes = 60_000;
jest.setTimeout(minutes);

/** Milliseconds in which hosts hear of a router, with room for a loaded machine. */
const soon = 10_000;

/** Where endpoints are. `n1` has two subnets, `n3` is on no router. */
const endpoints = {
  a1: { host: 'h1', network: 'n1', address: '10.51.0.11' },
  a2: { host: 'h1', network: 'n1', address: '10.52.0.12' },
  b1: { host: 'h1', network: 'n2' },
  b2: { host: 'h2', network: 'n2' },
  c1: { host: 'h1', network: 'n3' },
} as const;
type Name = keyof typeof endpoints;

const paths: { name: string; from: Name; to: Name }[] = [
  { name: 'two subnets of one network', from: 'a1', to: 'a2' },
  { name: 'two networks, one host', from: 'a1', to: 'b1' },
  { name: 'two networks, two hosts', from: 'a1', to: 'b2' },
  { name: 'two networks, two hosts, the other way', from: 'b2', to: 'a2' },
];

describe('a router between subnets', () => {
  let lab: NetworkLab;

  const connects = async (from: Name, to: Name): Promise<boolean> =>
    (await lab
      .of(from)
      .ask('tcp', lab.of(to).address, 7000)
      .catch(() => '')) === `${to}\n`;
  const change = async (method: 'PUT' | 'DELETE', subnet: string): Promise<void> => {
    expect((await lab.cloud.api.unchecked(method, `/routers/between/subnets/${subnet}?project=default`)).status).toBe(
      200,
    );
  };

  beforeAll(async () => {
    lab = await NetworkLab.start('routers', ['h1', 'h2']);
    await lab.network('n1', '10.51.0.0/24', 'default', false);
    await lab.cloud.api.ok('POST', '/subnets?project=default', { network: 'n1', name: 'n1-b', cidr: '10.52.0.0/24' });
    await lab.network('n2', '10.53.0.0/24', 'default', false);
    await lab.network('n3', '10.54.0.0/24', 'default', false);
    await lab.cloud.api.ok('POST', '/routers?project=default', { name: 'between', snat: false });
    for (const subnet of ['n1', 'n1-b', 'n2']) await change('PUT', subnet);
    for (const [name, placed] of Object.entries(endpoints)) {
      const endpoint = await lab.add(name, placed);
      for (const kind of ['tcp', 'udp'] as const) await endpoint.serve(kind, 7000);
    }
    for (const { from, to, name } of paths) await eventually(name, () => lab.of(from).ping(lab.of(to).address), soon);
  }, 4 * minutes);
  afterAll(() => lab?.close(), 2 * minutes);

  it.each(paths)('$name: TCP, UDP, packets as large as DHCP said and no larger', async ({ from, to }) => {
    const { address } = lab.of(to);
    expect(await lab.of(from).ask('tcp', address, 7000)).toBe(`${to}\n`);
    expect(await lab.of(from).ask('udp', address, 7000)).toBe(`${to}\n`);
    const { mtu } = (await lab.of(from).lease()) ?? { mtu: 0 };
    expect(await lab.of(from).ping(address, { bytes: mtu })).toBe(true);
    expect(await lab.of(from).ping(address, { bytes: mtu + 1 })).toBe(false);
  });

  it('leads to no network that is not on it, and out of none, whatever routes guests have', async () => {
    await lab.of('a1').in('ip', 'route', 'replace', 'default', 'via', '10.51.0.1');
    await lab.of('c1').in('ip', 'route', 'replace', 'default', 'via', '10.54.0.1');
    expect(await lab.of('a1').ping(lab.of('c1').address)).toBe(false);
    expect(await lab.of('c1').ping(lab.of('a1').address)).toBe(false);
    expect(await lab.of('a1').ping('198.51.100.1')).toBe(false);
  });

  it('leads where it led no more once a subnet is off, on every host, and again when it is back', async () => {
    await change('DELETE', 'n2');
    await eventually(
      'the way is gone',
      async () => !(await connects('a1', 'b2')) && !(await connects('b2', 'a1')),
      soon,
    );
    expect(await connects('b1', 'a1')).toBe(false);
    expect(await connects('a1', 'a2')).toBe(true);
    await change('PUT', 'n2');
    await eventually('the way is back', async () => (await connects('a1', 'b2')) && connects('b2', 'a1'), soon);
  });

  it('gives a way out by source NAT when told to, and takes it back', async () => {
    const out = lab.place('out', 'outside');
    await out.serve('tcp', 7000, '198.51.100.1');
    const snat = (on: boolean) => lab.cloud.api.ok('PATCH', '/routers/between?project=default', { snat: on });
    const reached = () =>
      lab
        .of('a1')
        .ask('tcp', '198.51.100.1', 7000)
        .then((text) => text === 'outside\n')
        .catch(() => false);
    await snat(true);
    await eventually('a way out', async () => Boolean(await lab.of('a1').lease()) && reached(), soon);
    await snat(false);
    await eventually('no way out', async () => !(await reached()), soon);
  });

  it('leaves nothing behind when all of it is deleted', async () => {
    expect(await lab.leftBehind([{ name: 'n1' }, { name: 'n2' }, { name: 'n3' }])).toEqual([]);
    await lab.cloud.api.ok('DELETE', '/routers/between?project=default');
  });
});
