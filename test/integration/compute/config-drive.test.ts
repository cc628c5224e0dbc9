import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pino from 'pino';
import { Config } from '../../../src/core/config/config';
import { coreConfigSchema } from '../../../src/core/config/core-config';
import { StatePaths } from '../../../src/core/config/state-paths';
import { RecordProblems } from '../../../src/core/host/records/record-problems';
import { ManagementAddresses } from '../../../src/core/m2m/node/management-addresses';
import type { NodeIdentity } from '../../../src/core/m2m/node/node-identity';
import { Logging } from '../../../src/core/telemetry/logging';
import { ConfigDrives } from '../../../src/modules/compute/node/seeds/config-drive';
import { InstanceStore } from '../../../src/modules/compute/node/instances/instance-store';
import { SeedStore } from '../../../src/modules/compute/node/seeds/seed.store';
import type { DriveForm } from '../../../src/modules/network/contract/drive-forms';
import { plainEgress } from '../../../src/modules/network/contract/host-document';
import { present, type PlainNetwork, type PlainPort } from '../../support/plain-networks';
import { networkConfigSchema } from '../../../src/modules/network/contract/network.config';
import { DocumentStore } from '../../../src/modules/network/node/document.store';
import type { LinuxNetworkDriver } from '../../../src/modules/network/node/drivers/linux/linux-network.driver';
import { SimulatedNetworkDriver } from '../../../src/modules/network/node/drivers/simulated-network.driver';
import { DriveFiles } from '../../../src/modules/network/node/metadata/drive-files';
import { GuestViews } from '../../../src/modules/network/node/metadata/guest-views';
import { NetworkAgent } from '../../../src/modules/network/node/network.agent';

jest.setTimeout(60_000);
const run = promisify(execFile);
const instanceId = '33333333-3333-4333-8333-333333333301';
const userData = Buffer.from([0x1f, 0x8b, 8, 0, 255, 10, 13, 0]);
const vendorData = '#cloud-config\ntimezone: Europe/Zürich\n';
const seed = {
  instanceId,
  name: 'Web',
  hostname: 'web',
  sshKeys: ['ssh-ed25519 AAAA me'],
  userData: userData.toString('base64'),
  vendorData,
  flavor: 'tiny',
  project: 'p',
};

describe('a config drive', () => {
  let directory: string;
  let drives: ConfigDrives;
  let store: InstanceStore;
  let seeds: SeedStore;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'vcs-drive-'));
    const paths = new StatePaths(join(directory, 'state'), join(directory, 'run'));
    const logging = new Logging(pino({ level: 'silent' }));
    const config = new Config(coreConfigSchema.parse({}), {
      network: networkConfigSchema.parse({ driver: 'simulated' }),
    });
    const identity = {
      current: () => ({ hostId: 'h', management: { address: '127.0.0.1', port: 8445 } }),
    } as unknown as NodeIdentity;
    const agent = new NetworkAgent(
      identity,
      new ManagementAddresses(config),
      config,
      new DocumentStore(paths, new RecordProblems(logging)),
      undefined as unknown as LinuxNetworkDriver,
      new SimulatedNetworkDriver(),
      logging,
    );
    const views = new GuestViews();
    agent.onConverged((served, document) => views.follow(served, document));
    const port = (position: number, hex: string): PlainPort => ({
      id: `22222222-2222-4222-8222-2222222222${hex}`,
      instanceId,
      mac: `56:43:53:00:00:${hex}`,
      address: `10.0.${position}.5`,
      hostname: 'web',
      position,
      defaultRoute: position === 0,
    });
    const network = (position: number, hex: string): PlainNetwork => ({
      id: `11111111-1111-4111-8111-1111111111${hex}`,
      subnet: `10.0.${position}.0/24`,
      gateway: `10.0.${position}.1`,
      gatewayMac: `56:43:47:00:00:${hex}`,
      dns: ['9.9.9.9'],
      domain: 'd',
      mtu: 1450,
      nat: true,
      ports: [port(position, hex)],
    });
    await agent.start();
    await agent.apply(present({ generation: 1, networks: [network(1, '01'), network(0, '02')], egress: plainEgress }));
    store = new InstanceStore(paths, new RecordProblems(logging));
    seeds = new SeedStore(store, new RecordProblems(logging));
    await seeds.save(seed);
    drives = new ConfigDrives(store, seeds, new DriveFiles(agent, views), new Config(coreConfigSchema.parse({}), {}));
    await agent.stop();
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  /**
   * Label and files of the drive, read by a program that knows nothing of us: kernels of test machines may lack the
   * file system.
   */
  const read = async (): Promise<{ type: string; label: string; files: Record<string, Buffer> }> => {
    const path = drives.path(instanceId);
    const probed = Object.fromEntries(
      (await run('blkid', ['-p', '-o', 'export', path])).stdout
        .split('\n')
        .map((line) => line.split('=') as [string, string]),
    );
    const names = (await run('isoinfo', ['-R', '-f', '-i', path])).stdout
      .split('\n')
      .filter((name) => /\.json$|_data$|-data$|-config$/.test(name));
    const content = async (name: string): Promise<Buffer> =>
      (await run('isoinfo', ['-R', '-i', path, '-x', name], { encoding: 'buffer' })).stdout;
    return {
      type: probed['TYPE'] ?? '',
      label: probed['LABEL'] ?? '',
      files: Object.fromEntries(
        await Promise.all(names.map(async (name) => [name.slice(1), await content(name)])),
      ) as Record<string, Buffer>,
    };
  };
  const make = (form: DriveForm): Promise<void> => drives.make(instanceId, form);

  it('has OpenStack’s tree, byte for byte what the metadata service answers', async () => {
    await make('openstack');
    const { type, label, files } = await read();
    expect({ type, label }).toEqual({ type: 'iso9660', label: 'config-2' });
    expect(Object.keys(files).sort()).toEqual([
      'ec2/latest/meta-data.json',
      'openstack/latest/meta_data.json',
      'openstack/latest/network_data.json',
      'openstack/latest/user_data',
      'openstack/latest/vendor_data.json',
    ]);
    expect(files['openstack/latest/user_data']).toEqual(userData);
    expect(JSON.parse(String(files['openstack/latest/vendor_data.json']))).toEqual({ 'cloud-init': vendorData });
    expect(JSON.parse(String(files['openstack/latest/meta_data.json']))).toMatchObject({
      uuid: instanceId,
      hostname: 'web',
      public_keys: { 'key-0': 'ssh-ed25519 AAAA me' },
    });
    expect(JSON.parse(String(files['openstack/latest/network_data.json']))).toMatchObject({
      links: [{ ethernet_mac_address: '56:43:53:00:00:02' }, { ethernet_mac_address: '56:43:53:00:00:01' }],
    });
    expect(JSON.parse(String(files['ec2/latest/meta-data.json']))).toMatchObject({
      'instance-id': instanceId,
      'local-ipv4': '10.0.0.5',
    });
  });

  it('has NoCloud’s tree', async () => {
    await make('nocloud');
    const { type, label, files } = await read();
    expect({ type, label }).toEqual({ type: 'iso9660', label: 'cidata' });
    expect(Object.keys(files).sort()).toEqual(['meta-data', 'network-config', 'user-data', 'vendor-data']);
    expect(files['user-data']).toEqual(userData);
    expect(String(files['vendor-data'])).toBe(vendorData);
  });

  it('is readable by its owner alone, leaves nothing beside it, and goes', async () => {
    await make('openstack');
    expect((await readdir(store.directory(instanceId))).sort()).toEqual(['config-drive.iso', 'seed.json']);
    expect((await run('stat', ['-c', '%a', drives.path(instanceId)])).stdout.trim()).toBe('600');
    await drives.remove(instanceId);
    await drives.remove(instanceId);
    await expect(access(drives.path(instanceId))).rejects.toThrow('ENOENT');
  });

  it('takes the place of what a killed agent left', async () => {
    await make('openstack');
    await mkdir(`${drives.path(instanceId)}.d/openstack/latest`, { recursive: true });
    await make('nocloud');
    expect((await read()).label).toBe('cidata');
    expect((await readdir(store.directory(instanceId))).sort()).toEqual(['config-drive.iso', 'seed.json']);
  });

  it('keeps the first of two passwords that a guest tells', async () => {
    const kept = await Promise.all(['one', 'two'].map((password) => seeds.keepPassword(instanceId, password)));
    expect(kept.filter(Boolean)).toHaveLength(1);
    expect(await seeds.password(instanceId)).toBe(kept[0] ? 'one' : 'two');
    expect(await seeds.password('33333333-3333-4333-8333-333333333302')).toBe('');
  });

  it('that does not fit on the disk says so in our words, and keeps those of the program for operators', async () => {
    const folder = dirname(drives.path(instanceId));
    await run('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', folder]);
    try {
      await seeds.save(seed);
      await expect(make('openstack')).rejects.toMatchObject({
        code: 'config_drive_failed',
        message: 'The config drive could not be written.',
        permanent: false,
        detail: expect.stringMatching(/No space left/),
      });
      expect((await readdir(folder)).filter((name) => name.includes('config-drive'))).toEqual([]);
    } finally {
      await run('umount', [folder]);
    }
  });

  it('is refused in words where the host cannot write one, or was not told what', async () => {
    const { PATH } = process.env;
    process.env['PATH'] = directory;
    await expect(make('openstack')).rejects.toMatchObject({ code: 'no_iso_writer', permanent: true });
    process.env['PATH'] = PATH;
    await expect(drives.make('33333333-3333-4333-8333-333333333302', 'openstack')).rejects.toMatchObject({
      code: 'no_seed',
      permanent: true,
    });
  });
});
