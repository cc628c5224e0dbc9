import { eventually } from '../support/eventually';
import { NetworkLab } from './network-lab';
import { flowing } from './flow';

const minutes = 60_000;
jest.setTimeout(2 * minutes);

/** Milliseconds in which other hosts hear of a port, with room for a loaded machine. */
const soon = 5_000;

describe('a network across three hosts', () => {
  let lab: NetworkLab;

  beforeAll(async () => {
    lab = await NetworkLab.start('across', ['h1', 'h2', 'h3']);
    await lab.network('n1', '10.33.0.0/24');
    await lab.add('a', { host: 'h1', network: 'n1', address: '10.33.0.11' });
    await lab.add('b', { host: 'h2', network: 'n1', address: '10.33.0.12' });
    await lab.add('c', { host: 'h3', network: 'n1', address: '10.33.0.13' });
  }, 4 * minutes);
  afterAll(() => lab?.close(), 2 * minutes);

  const reaches = (from: string, to: string): Promise<true> =>
    eventually(
      `${from} reaches ${to}`,
      async () => {
        // What a guest remembers of an address is its own: therefore addresses cool down, but for here.
        await lab.of(from).forgetNeighbours();
        return lab.of(from).ping(lab.of(to).address);
      },
      soon,
    );

  it('is one for all of them, and its hosts say so', async () => {
    await lab.connected(soon);
    await eventually('all hosts connected', async () => {
      const { items } = await lab.cloud.api.ok('GET', '/hosts');
      const told = items.map(({ conditions }) => conditions.find(({ type }) => type === 'NetworkOverlay')?.status);
      return told.every((status) => status === 'true');
    });
  });

  it('follows an address from one host to another', async () => {
    await lab.remove('b');
    expect(await lab.of('a').ping('10.33.0.12')).toBe(false);
    await lab.add('b2', { host: 'h3', network: 'n1', address: '10.33.0.12' });
    for (const from of ['a', 'c']) await reaches(from, 'b2');
    await lab.remove('b2');
    await lab.add('b', { host: 'h2', network: 'n1', address: '10.33.0.12' });
    for (const from of ['a', 'c']) await reaches(from, 'b');
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'loses no packet when an agent is ended by %s and started again',
    async (signal) => {
      const flow = await flowing(lab.of('a'), lab.of('b'));
      for (const name of ['h1', 'h2']) {
        await lab.cloud.host(name).end(signal);
        await lab.cloud.host(name).start();
        // It has gone over all its networks when one more port is there.
        await lab.add(`late-${name}`, { host: name, network: 'n1' });
        await lab.remove(`late-${name}`);
      }
      const { sent, received, longestGapMs, broken } = await flow.end();
      expect({ lost: sent - received, broken }).toEqual({ lost: 0, broken: false });
      expect(sent).toBeGreaterThan(20);
      expect(longestGapMs).toBeLessThan(1_000);
    },
  );

  it('is whole again when a host comes back that missed what changed', async () => {
    await lab.cloud.host('h2').end('SIGKILL');
    await lab.cloud.hostState('h2', 'unknown');
    await lab.remove('c');
    await lab.add('c', { host: 'h3', network: 'n1', address: '10.33.0.21' });
    await lab.add('d', { host: 'h1', network: 'n1', address: '10.33.0.13' });
    await reaches('a', 'c');
    await lab.cloud.host('h2').start();
    await lab.cloud.hostState('h2', 'ready');
    for (const to of ['a', 'c', 'd']) {
      await reaches('b', to);
      await reaches(to, 'b');
    }
  });

  it('loses no packet while many ports come and go on all hosts, and is told of the last of them', async () => {
    const flow = await flowing(lab.of('a'), lab.of('b'));
    const crowd = await lab.crowd(30, ['h1', 'h2', 'h3'], 'n1');
    const [late] = await Promise.all([lab.add('late', { host: 'h3', network: 'n1' }), lab.disperse(crowd)]);
    for (const from of ['a', 'b']) await reaches(from, late.name);
    const { sent, received, longestGapMs, broken } = await flow.end();
    expect({ lost: sent - received, broken }).toEqual({ lost: 0, broken: false });
    expect(longestGapMs).toBeLessThan(1_000);
  });

  it('leaves nothing behind when its instances are deleted', async () => {
    expect(await lab.leftBehind([{ name: 'n1' }])).toEqual([]);
  });
});
