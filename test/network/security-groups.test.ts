import { eventually } from '../support/eventually';
import { NetworkLab } from './network-lab';

const minutes = 60_000;
jest.setTimeout(minutes);

/** Milliseconds in which hosts hear of a group, with room for a loaded machine. */
const soon = 10_000;
/** The same of a host whose agent did not answer when it was told: its task tries again within a quarter of one. */
const retried = 30_000;

describe('security groups across hosts', () => {
  let lab: NetworkLab;

  const group = (name: string) => lab.cloud.api.ok('POST', '/security-groups?project=default', { name });
  const rule = async (of: string, more: object): Promise<string> =>
    (await lab.cloud.api.ok('POST', `/security-groups/${of}/rules?project=default`, { direction: 'ingress', ...more }))
      .id;
  const drop = (id: string) => lab.cloud.api.ok('DELETE', `/security-group-rules/${id}`);
  /** Every host concerned has said that it knows the group as it is. */
  const active = (name: string) =>
    eventually(
      `${name} is known everywhere`,
      async () => (await lab.cloud.api.ok('GET', `/security-groups/${name}?project=default`)).status === 'active',
      soon,
    );
  const reaches = async (from: string, to: string, port: number, kind: 'tcp' | 'udp' = 'tcp'): Promise<boolean> =>
    (await lab.of(from).ask(kind, lab.of(to).address, port)) === `${to}\n`;

  beforeAll(async () => {
    lab = await NetworkLab.start('groups', ['h1', 'h2']);
    await lab.network('n1', '10.61.0.0/24', 'default', false);
    for (const name of ['web', 'db', 'shut']) await group(name);
    for (const name of ['web', 'db']) await rule(name, { direction: 'egress' });
    // `far` and `db` are on one host, all others on the other one.
    await lab.add('web1', { host: 'h1', network: 'n1', securityGroups: ['web'] });
    await lab.add('far', { host: 'h2', network: 'n1', securityGroups: ['web'] });
    await lab.add('db', { host: 'h2', network: 'n1', securityGroups: ['db'] });
    await lab.add('other', { host: 'h1', network: 'n1' });
    await lab.add('shut', { host: 'h1', network: 'n1', securityGroups: ['shut'] });
    for (const name of ['web1', 'far', 'db', 'shut'])
      for (const port of [5432, 8080]) {
        await lab.of(name).serve('tcp', port);
        await lab.of(name).serve('udp', port);
      }
  }, 4 * minutes);
  afterAll(() => lab?.close(), 2 * minutes);

  it('let nothing in without a rule, and nothing out either where there is none', async () => {
    expect(await reaches('web1', 'db', 5432)).toBe(false);
    expect(await reaches('other', 'db', 5432)).toBe(false);
    expect(await lab.of('web1').ping(lab.of('db').address)).toBe(false);
    await rule('db', { protocol: 'tcp', portMin: 8080, portMax: 8080, remoteCidr: '10.61.0.0/24' });
    await active('db');
    await eventually('others get in', () => reaches('other', 'db', 8080), soon);
    // It has a lease: what every guest needs passes.
    expect((await lab.of('shut').lease())?.address).toBe(lab.of('shut').address);
    expect(await reaches('shut', 'db', 8080)).toBe(false);
  });

  it('let in what a rule names, of that protocol and port, from members of a group on every host', async () => {
    await rule('db', { protocol: 'tcp', portMin: 5432, portMax: 5432, remoteGroup: 'web' });
    await active('db');
    for (const from of ['web1', 'far']) await eventually(`${from} gets in`, () => reaches(from, 'db', 5432), soon);
    expect(await reaches('web1', 'db', 5432, 'udp')).toBe(false);
    expect(await reaches('other', 'db', 5432)).toBe(false);
    expect(await lab.of('web1').ping(lab.of('db').address)).toBe(false);
    const icmp = await rule('db', { protocol: 'icmp', icmpType: 8, remoteGroup: 'web' });
    await eventually('echo requests get in', () => lab.of('web1').ping(lab.of('db').address), soon);
    await drop(icmp);
    await eventually('and no more', async () => !(await lab.of('web1').ping(lab.of('db').address)), soon);
  });

  it('follow who comes into a group and leaves it, on the other host', async () => {
    await lab.add('late', { host: 'h1', network: 'n1', securityGroups: ['web'] });
    await eventually('the newcomer gets in', () => reaches('late', 'db', 5432), soon);
    const { items } = await lab.cloud.api.ok('GET', `/ports?instance=${lab.instanceOf('late')}`);
    const patch = (securityGroups: string[]) =>
      lab.cloud.api.ok('PATCH', `/ports/${items[0]?.id ?? ''}`, { securityGroups });
    await patch(['default']);
    await eventually('it is out', async () => !(await reaches('late', 'db', 5432)), soon);
    await patch(['default', 'web']);
    await eventually('it is in again', () => reaches('late', 'db', 5432), soon);
    await lab.remove('late');
  });

  it('cut flows that are open when their rule goes, and those alone', async () => {
    const extra = await rule('db', { protocol: 'tcp', portMin: 9000, portMax: 9001, remoteGroup: 'web' });
    const kept = await rule('db', { protocol: 'tcp', portMin: 9001, portMax: 9001, remoteGroup: 'web' });
    await active('db');
    const open = async (port: number) => {
      lab.of('db').start('socat', `TCP-LISTEN:${port},reuseaddr`, 'SYSTEM:while sleep 0.2; do echo tick || exit; done');
      const client = lab
        .of('far')
        .start('socat', '-u', `TCP:${lab.of('db').address}:${port},retry=20,interval=0.2`, '-');
      await eventually(`ticks on ${port}`, async () => client.said.includes('tick'), soon);
      return client;
    };
    const [cut, goesOn] = [await open(9000), await open(9001)];
    await drop(extra);
    const silent = async (): Promise<boolean> => {
      const [before, other] = [cut.said.length, goesOn.said.length];
      await eventually('the other one goes on', async () => goesOn.said.length > other + 10, soon);
      return cut.said.length === before;
    };
    await eventually('the flow is cut', silent, 3 * soon);
    await drop(kept);
  });

  it(
    'hold while agents are away, and are whole when one comes back that missed a change',
    async () => {
      const web1 = () => reaches('web1', 'db', 5432);
      expect(await web1()).toBe(true);
      await lab.cloud.host('h2').end('SIGKILL');
      expect(await web1()).toBe(true);
      expect(await reaches('other', 'db', 5432)).toBe(false);
      const missed = await rule('db', { protocol: 'udp', portMin: 8080, portMax: 8080 });
      expect(await reaches('other', 'db', 8080, 'udp')).toBe(false);
      await lab.cloud.host('h2').start();
      await lab.cloud.hostState('h2', 'ready');
      await eventually('what it missed holds', () => reaches('other', 'db', 8080, 'udp'), retried);
      await active('db');
      await drop(missed);
    },
    2 * minutes,
  );

  it('leave nothing behind when all of it is deleted', async () => {
    expect(await lab.leftBehind([{ name: 'n1' }])).toEqual([]);
    for (const name of ['db', 'web', 'shut'])
      await lab.cloud.api.ok('DELETE', `/security-groups/${name}?project=default`);
  });
});
