import { parse } from 'yaml';
import { ec2 } from './ec2';
import type { GuestView } from './guest-view';
import { nocloud } from './nocloud';
import { openstack } from './openstack';
import { SessionTokens } from './session-tokens';

const port = {
  id: 'p',
  instanceId: 'i',
  mac: '12:40:37:27:57:41',
  addresses: [{ subnetId: 's', address: '10.0.0.5' }],
  hostname: 'web',
  position: 0,
  defaultRoute: true,
};
const network = {
  id: 'n',
  gatewayMac: '56:43:47:00:00:01',
  subnets: [{ id: 's', cidr: '10.0.0.0/24', gateway: '10.0.0.1', dns: ['9.9.9.9'] }],
  domain: 'd',
  mtu: 1450,
  ports: [port],
};
const view = (over: Partial<GuestView['instance']> = {}): GuestView => ({
  port,
  nics: [{ port, network }],
  instance: {
    instanceId: 'i',
    name: 'Web "1"',
    hostname: 'web',
    sshKeys: ['ssh-ed25519 AAAA "quoted"'],
    userData: Buffer.alloc(0),
    vendorData: '',
    flavor: 'tiny',
    project: 'p',
    metadata: {},
    ...over,
  },
});
const body = (answer: ReturnType<typeof ec2>): string => String(answer?.body);

describe('metadata formats', () => {
  it('keep an all-digit MAC a string in YAML', () => {
    const config = parse(body(nocloud(view(), ['network-config'])), { version: '1.1' }) as {
      ethernets: { nic0: { match: { macaddress: unknown } } };
    };
    expect(config.ethernets.nic0.match.macaddress).toBe('12:40:37:27:57:41');
    expect(parse(body(nocloud(view(), ['meta-data'])))).toEqual({
      'instance-id': 'i',
      hostname: 'web',
      'local-hostname': 'web',
      'public-keys': { '0': { 'openssh-key': 'ssh-ed25519 AAAA "quoted"' }, 'key-0': 'ssh-ed25519 AAAA "quoted"' },
    });
  });
  it('list what is there and nothing else', () => {
    expect(body(ec2(view(), ['latest']))).toBe('meta-data');
    expect(body(ec2(view({ userData: Buffer.from('x') }), ['latest']))).toBe('meta-data\nuser-data');
    expect(body(ec2(view(), ['latest', 'meta-data', 'public-keys', '0']))).toBe('openssh-key');
    expect(body(ec2(view(), ['latest', 'meta-data', 'network', 'interfaces', 'macs', port.mac, 'local-ipv4s']))).toBe(
      '10.0.0.5',
    );
    expect(body(ec2(view({ sshKeys: [] }), ['latest', 'meta-data']))).not.toContain('public-keys');
    for (const path of [
      ['2000-01-01'],
      ['latest', 'meta-data', 'toString'],
      ['latest', 'meta-data', 'hostname', 'x'],
      ['latest', 'user-data'],
    ])
      expect(ec2(view(), path)).toBeNull();
    for (const path of [
      ['latest', 'user_data'],
      ['latest', 'vendor_data.json'],
      ['latest', 'vendor_data2.json'],
      ['latest', 'toString'],
      ['latest', 'meta_data.json', 'x'],
      ['old'],
    ])
      expect(openstack(view(), path)).toBeNull();
    for (const path of [['x'], ['meta-data', 'x']]) expect(nocloud(view(), path)).toBeNull();
  });
  it.each(['2012-08-10', '2013-04-04', '2015-10-15', '2018-08-27', '2020-10-14', 'latest'])(
    'give the same in OpenStack’s version %s',
    (version) => {
      expect(body(openstack(view(), [])).split('\n')).toContain(version);
      expect(body(openstack(view(), [version]))).toBe('meta_data.json\nnetwork_data.json');
      expect(body(openstack(view({ userData: Buffer.from('x') }), [version]))).toBe(
        'meta_data.json\nnetwork_data.json\nuser_data',
      );
      expect(JSON.parse(body(openstack(view(), [version, 'meta_data.json'])))).toMatchObject({
        uuid: 'i',
        hostname: 'web',
      });
    },
  );
  it.each(['2009-04-04', '2016-09-02', '2018-09-24', '2019-10-01', '2021-01-03', '2021-03-23'])(
    'give the same in EC2’s version %s',
    (version) => {
      expect(body(ec2(view(), [])).split('\n')).toContain(version);
      expect(body(ec2(view(), [version, 'meta-data', 'instance-id']))).toBe('i');
    },
  );
  it('describe every card in the user’s order, by MAC', () => {
    const second = {
      port: { ...port, id: 'q', mac: '56:43:53:00:00:02', position: 1 },
      network: {
        ...network,
        id: 'm',
        mtu: 9000,
        subnets: network.subnets.map((subnet) => ({ ...subnet, dns: ['9.9.9.9', '8.8.8.8'] })),
      },
    };
    const two = { ...view(), nics: [{ port, network }, second] };
    expect(JSON.parse(body(openstack(two, ['latest', 'network_data.json'])))).toEqual({
      links: [
        { id: 'link0', vif_id: 'p', type: 'phy', ethernet_mac_address: port.mac, mtu: 1450 },
        { id: 'link1', vif_id: 'q', type: 'phy', ethernet_mac_address: '56:43:53:00:00:02', mtu: 9000 },
      ],
      networks: [
        { id: 'network0', network_id: 'n', type: 'ipv4_dhcp', link: 'link0' },
        { id: 'network1', network_id: 'm', type: 'ipv4_dhcp', link: 'link1' },
      ],
      services: [
        { type: 'dns', address: '9.9.9.9' },
        { type: 'dns', address: '8.8.8.8' },
      ],
    });
  });
  it('give vendor data in the form that each reader takes', () => {
    const vendorData = '#cloud-config\npackages: [chrony]\n';
    expect(JSON.parse(body(openstack(view({ vendorData }), ['latest', 'vendor_data.json'])))).toEqual({
      'cloud-init': vendorData,
    });
    expect(body(openstack(view({ vendorData }), ['latest']))).toBe(
      'meta_data.json\nnetwork_data.json\nvendor_data.json',
    );
    expect(body(nocloud(view({ vendorData }), ['vendor-data']))).toBe(vendorData);
    expect(body(nocloud(view(), ['vendor-data']))).toBe('');
  });
  it('give user-data unparsed', () => {
    const userData = Buffer.from([0x1f, 0x8b, 0, 255, 10]);
    expect(ec2(view({ userData }), ['latest', 'user-data'])?.body).toBe(userData);
    expect(openstack(view({ userData }), ['latest', 'user_data'])?.body).toBe(userData);
    expect(nocloud(view({ userData }), ['user-data'])?.body).toBe(userData);
  });
});

describe('session tokens', () => {
  const tokens = new SessionTokens();
  it('hold for their port and their time', () => {
    const token = tokens.issue('p', 60, 1_000_000);
    expect(tokens.valid('p', token, 1_059_000)).toBe(true);
    expect(tokens.valid('p', token, 1_060_000)).toBe(false);
    expect(tokens.valid('q', token, 1_000_000)).toBe(false);
    expect(new SessionTokens().valid('p', token, 1_000_000)).toBe(false);
  });
  it.each(['', 'x', '.', '99999999999.', 'NaN.aaaa', '1e9.aaaa', `9${'9'.repeat(40)}.a`])('refuse %j', (token) =>
    expect(tokens.valid('p', token)).toBe(false),
  );
});
