import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LeftoverListing } from '../../../src/modules/host/contract/leftover';
import { plainEgress } from '../../../src/modules/network/contract/host-document';
import {
  hostLinkPrefix,
  hostTable,
  instanceNetns,
  netnsPrefix,
} from '../../../src/modules/network/node/drivers/linux/names';
import { namespacesNow } from '../../support/namespaces';
import { HostLab } from './host-lab';

jest.setTimeout(120_000);
const run = promisify(execFile);
const stranger = '99999999-9999-4999-8999-0123456789ab';

let lab: HostLab;
beforeAll(async () => {
  lab = await HostLab.start('leftovers');
  await lab.startAgent();
});
afterAll(() => lab.close());

const list = async (): Promise<LeftoverListing> => (await lab.call({ method: 'leftovers' })) as LeftoverListing;
const remove = async (kinds?: string[]): Promise<unknown> => {
  const { leftovers } = await list();
  const confirmed = leftovers
    .filter(({ kind }) => kinds === undefined || kinds.includes(kind))
    .map(({ kind, name, mark }) => ({ kind, name, mark }));
  return lab.call({ method: 'remove-leftovers', leftovers: confirmed });
};
const inHost = (...args: string[]): Promise<string> => lab.in(lab.host, 'ip', ...args);

/** As an agent makes them that lost its files afterwards. */
const litter = async (): Promise<{ netns: string; link: string }> => {
  const netns = instanceNetns(lab.hash, stranger);
  await run('ip', ['netns', 'add', netns]);
  await run('ip', ['-n', netns, 'tuntap', 'add', 'dev', 't0123456789ab', 'mode', 'tap']);
  await run('ip', ['-n', netns, 'link', 'add', 'v0123456789ab', 'type', 'veth', 'peer', 'name', 'p0123456789ab']);
  const link = `${hostLinkPrefix(lab.hash)}456789ab`;
  await inHost('link', 'add', link, 'type', 'veth', 'peer', 'name', 'ext0');
  await lab.in(lab.host, 'nft', 'add', 'table', 'inet', hostTable(lab.hash));
  const served = join(lab.dir, 'run', 'network', stranger);
  mkdirSync(served, { recursive: true });
  writeFileSync(join(served, 'dnsmasq.conf'), '');
  return { netns, link };
};

describe('leftovers of networks', () => {
  it('are listed and removed without a document too, and nothing that is not ours', async () => {
    const { netns, link } = await litter();
    const foreign = `t-leftovers-${process.pid}-foreign`;
    await run('ip', ['netns', 'add', foreign]);
    await inHost('link', 'add', 'l00ff', 'type', 'bridge');
    try {
      const { leftovers, failed } = await list();
      expect(failed).toEqual([]);
      expect(leftovers).toMatchObject([
        { kind: 'dhcp-server', name: stranger, owner: 'network', ownerId: stranger },
        { kind: 'network-link', name: link, owner: null },
        { kind: 'packet-filter', name: hostTable(lab.hash) },
        {
          kind: 'network-namespace',
          name: netns,
          owner: 'instance',
          ownerId: '0123456789ab',
          holds: expect.arrayContaining(['t0123456789ab', 'v0123456789ab']) as unknown,
        },
      ]);
      expect(await remove()).toEqual({ removed: 4 });
      expect(await list()).toMatchObject({ leftovers: [], failed: [] });
      expect(namespacesNow()).toContain(foreign);
      expect(namespacesNow().filter((name) => name.startsWith(netnsPrefix(lab.hash)))).toEqual([]);
      const left = await inHost('-br', 'link', 'show');
      expect(left).toContain('l00ff');
      expect(left).not.toContain(link);
    } finally {
      await run('ip', ['netns', 'del', foreign]);
    }
  });

  it('are kept while a process runs in them, and while they are another by now', async () => {
    const netns = instanceNetns(lab.hash, stranger);
    await run('ip', ['netns', 'add', netns]);
    const inside = execFile('nsenter', [`--net=/run/netns/${netns}`, '--', 'sleep', '60']);
    try {
      await lab.until('the process', async () => (await run('ip', ['netns', 'pids', netns])).stdout.trim() !== '');
      await expect(remove()).rejects.toThrow('Processes run in');
      expect(namespacesNow()).toContain(netns);
    } finally {
      const ended = new Promise((done) => inside.once('exit', done));
      inside.kill('SIGKILL');
      await ended;
    }
    const { leftovers } = await list();
    await run('ip', ['netns', 'del', netns]);
    // Another namespace, which another one may not have the inode of.
    await run('ip', ['netns', 'add', `${netns}x`]);
    await run('ip', ['netns', 'add', netns]);
    const old = leftovers.map(({ kind, name, mark }) => ({ kind, name, mark: `${mark}0` }));
    await expect(lab.call({ method: 'remove-leftovers', leftovers: old })).rejects.toThrow('Something else is there');
    expect(namespacesNow()).toContain(netns);
    await remove();
    expect(namespacesNow().filter((name) => name.startsWith(netnsPrefix(lab.hash)))).toEqual([]);
  });

  it('are nothing of the document, however it changes meanwhile; a pass that repairs removes what is too much', async () => {
    const network = (ports: number): Parameters<HostLab['network']> => [
      1,
      Array.from({ length: ports }, (_, n) => lab.port(n + 1, `10.77.0.1${n}`)),
    ];
    let over = false;
    const wrong: string[] = [];
    let looks = 0;
    const looking = (async () => {
      while (!over) {
        const { leftovers } = await list();
        looks += 1;
        wrong.push(...leftovers.map(({ kind, name }) => `${kind} ${name}`));
      }
    })();
    try {
      for (let generation = 1; generation <= 8; generation += 1)
        await lab.apply({
          generation,
          networks: generation % 2 === 0 ? [] : [lab.network(...network(3))],
          egress: plainEgress,
        });
    } finally {
      over = true;
    }
    await looking;
    expect(wrong).toEqual([]);
    expect(looks).toBeGreaterThan(3);
    await lab.apply({ generation: 9, networks: [lab.network(...network(2))], egress: plainEgress });
    const { netns } = await litter();
    const { leftovers } = await list();
    // The packet filter is the document's now.
    expect(leftovers.map(({ kind }) => kind)).toEqual(['dhcp-server', 'network-link', 'network-namespace']);
    await remove(['network-namespace']);
    expect(namespacesNow()).not.toContain(netns);
    await lab.call({ method: 'verify' });
    expect((await list()).leftovers).toEqual([]);
    await lab.apply({ generation: 10, networks: [], egress: plainEgress });
  });
});
