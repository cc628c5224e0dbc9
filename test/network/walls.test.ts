import { setTimeout as delay } from 'node:timers/promises';
import type { Endpoint } from './endpoint';
import { NetworkLab } from './network-lab';
import type { Place } from './place';
import { overheard, repeated } from './underlay';

const minutes = 60_000;
jest.setTimeout(minutes);

describe('packets that must not pass', () => {
  let lab: NetworkLab;
  let attacker: Endpoint;
  let neighbour: Endpoint;
  let far: Endpoint;
  let stranger: Endpoint;
  let twin: Endpoint;
  let underlay: Record<string, string>;
  let machines: { place: Place; address: string }[];

  beforeAll(async () => {
    lab = await NetworkLab.start('walls', ['h1', 'h2']);
    await lab.network('n1', '10.31.0.0/24');
    await lab.network('n1', '10.31.0.0/24', 'other');
    await lab.network('n2', '10.32.0.0/24', 'other');
    attacker = await lab.add('attacker', { host: 'h1', network: 'n1', address: '10.31.0.10' });
    neighbour = await lab.add('neighbour', { host: 'h1', network: 'n1', address: '10.31.0.11' });
    far = await lab.add('far', { host: 'h2', network: 'n1', address: '10.31.0.13' });
    twin = await lab.add('twin', { host: 'h1', network: 'n1', project: 'other', address: '10.31.0.12' });
    stranger = await lab.add('stranger', { host: 'h1', network: 'n2', project: 'other' });
    underlay = await lab.underlay();
    machines = ['mgm', 'h1', 'h2'].map((name) => ({
      place: lab.place(name),
      address: underlay[name] ?? new URL(lab.cloud.api.url).hostname,
    }));
    await lab.connected();
    for (const { place } of machines) await place.serve('tcp', 7000);
    for (const endpoint of [neighbour, far, twin, stranger]) await endpoint.serve('tcp', 7000);
  }, 4 * minutes);
  afterAll(() => lab?.close(), 2 * minutes);

  /** What is tried would hold of a network that carries nothing, too. */
  const stillWorks = async (): Promise<void> => {
    for (const other of [neighbour, far])
      expect(await attacker.ask('tcp', other.address, 7000)).toBe(`${other.name}\n`);
  };
  /** On the same host, and on another one. */
  const victims = ['neighbour', 'far'];

  it("go to another tenant's guests: at its addresses, and at addresses that only it has", async () => {
    for (const { address } of [twin, stranger]) {
      expect(await attacker.ask('tcp', address, 7000)).toBe('');
      expect(await attacker.ping(address)).toBe(false);
    }
    await stillWorks();
  });

  it('go to the cloud’s own machines: the host itself, the other one, management', async () => {
    const desk = lab.place('out');
    for (const { place, address } of machines) {
      expect([place.name, await attacker.ask('tcp', address, 7000)]).toEqual([place.name, '']);
      expect([place.name, await attacker.ping(address)]).toEqual([place.name, false]);
      // It listens: its neighbour on the underlay reaches it.
      expect(await desk.ask('tcp', address, 7000)).toBe(`${place.name}\n`);
    }
    await stillWorks();
  });

  it.each(victims)('come to %s from an address that is not the port’s', async (name) => {
    const victim = lab.of(name);
    await attacker.in('ip', 'addr', 'add', '10.31.0.66/24', 'dev', 'eth0');
    const before = await victim.echoesSeen();
    expect(await attacker.ping(victim.address, { from: '10.31.0.66' })).toBe(false);
    expect(await victim.echoesSeen()).toBe(before);
    await attacker.in('ip', 'addr', 'del', '10.31.0.66/24', 'dev', 'eth0');
    await stillWorks();
  });

  it.each(victims)('come to %s from a MAC that is not the port’s', async (name) => {
    const victim = lab.of(name);
    const before = await victim.echoesSeen();
    await attacker.in('ip', 'link', 'set', 'eth0', 'address', '56:43:53:fe:fe:fe');
    await attacker.in('ip', 'neigh', 'replace', victim.address, 'lladdr', victim.plug.mac, 'dev', 'eth0');
    expect(await attacker.ping(victim.address)).toBe(false);
    expect(await victim.echoesSeen()).toBe(before);
    await attacker.in('ip', 'neigh', 'del', victim.address, 'dev', 'eth0');
    await attacker.in('ip', 'link', 'set', 'eth0', 'address', attacker.plug.mac);
    await stillWorks();
  });

  it.each(victims)('announce to %s the gateway’s address, or another one, as the sender’s', async (name) => {
    const victim = lab.of(name);
    for (const claimed of [attacker.gateway, '10.31.0.77']) {
      await victim.ping(claimed);
      const known = await victim.in('ip', 'neigh', 'show', claimed);
      await attacker.in('ip', 'addr', 'add', `${claimed}/32`, 'dev', 'lo');
      await attacker
        .in('busybox', 'arping', '-U', '-c', '2', '-s', claimed, '-I', 'eth0', victim.address)
        .catch(() => '');
      await attacker.in('ip', 'addr', 'del', `${claimed}/32`, 'dev', 'lo');
      expect(await victim.in('ip', 'neigh', 'show', claimed)).not.toContain(attacker.plug.mac);
      expect(known).not.toContain(attacker.plug.mac);
    }
    await stillWorks();
  });

  it('offer addresses as a DHCP server does', async () => {
    const rogue = attacker.start(
      'dnsmasq',
      ...['--keep-in-foreground', '--conf-file=/dev/null', '--port=0', '--interface=eth0', '--bind-interfaces'],
      ...[
        '--dhcp-authoritative',
        '--dhcp-range=10.31.0.200,10.31.0.250,1h',
        '--user=root',
        '--dhcp-leasefile=/dev/null',
      ],
    );
    const own = new Map([neighbour, far].map((victim) => [victim, victim.address]));
    for (let round = 0; round < 3; round += 1)
      for (const [victim, address] of own) expect((await victim.lease())?.address).toBe(address);
    // Nor does anything else from a server's port come to a client's.
    await neighbour.serve('udp', 68);
    expect(
      await attacker.in('sh', '-c', `echo x | socat -t 1 -T 2 - UDP:${neighbour.address}:68,sp=67`).catch(() => ''),
    ).toBe('');
    expect(await attacker.ask('udp', neighbour.address, 68)).toBe('neighbour\n');
    expect(rogue.runs).toBe(true);
    await rogue.end('SIGKILL');
    await stillWorks();
  });

  it('are of IPv6, router advertisements among them', async () => {
    await attacker.in('sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=0');
    expect(await attacker.ping('ff02::1%eth0')).toBe(false);
    await stillWorks();
  });

  /** Whether one of the datagrams, said to its host from there, comes to the far endpoint. */
  const isHeard = async (from: Place, datagrams: Awaited<ReturnType<typeof overheard>>): Promise<boolean> => {
    const before = await far.echoesSeen();
    for (let time = 0; time < 3; time += 1) await repeated(from, underlay['h2'] ?? '', datagrams);
    // A datagram that is refused leaves no trace to wait for.
    await delay(300);
    return (await far.echoesSeen()) > before;
  };

  it('say what hosts say to each other: from a stranger on the underlay, from management, from guests', async () => {
    const host = lab.place('h1');
    const datagrams = await overheard(host, underlay['h2'] ?? '', () => attacker.ping(far.address));
    expect(datagrams.length).toBeGreaterThan(0);
    // The same words from the host that said them are taken.
    expect(await isHeard(host, datagrams)).toBe(true);
    for (const from of [lab.place('out'), lab.place('mgm'), attacker, stranger])
      expect([from.name, await isHeard(from, datagrams)]).toEqual([from.name, false]);
    await stillWorks();
  });

  it(
    'leave nothing behind when their instances are deleted',
    async () => {
      const networks = [{ name: 'n1' }, { name: 'n1', project: 'other' }, { name: 'n2', project: 'other' }];
      expect(await lab.leftBehind(networks)).toEqual([]);
    },
    2 * minutes,
  );
});
