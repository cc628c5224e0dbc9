import { bytes, json, text, type Answer, type GuestView } from './guest-view';

const versions = ['2018-08-27', 'latest'];
const keyName = (index: number): string => `key-${index}`;

const metaData = ({ instance }: GuestView): object => ({
  uuid: instance.instanceId,
  name: instance.name,
  hostname: instance.hostname,
  project_id: instance.project,
  availability_zone: 'default',
  launch_index: 0,
  meta: {},
  public_keys: Object.fromEntries(instance.sshKeys.map((key, index) => [keyName(index), key])),
  keys: instance.sshKeys.map((key, index) => ({ name: keyName(index), type: 'ssh', data: key })),
});

const networkData = ({ nics }: GuestView): object => ({
  links: nics.map(({ port, network }, index) => ({ id: `link${index}`, vif_id: port.id, type: 'phy', ethernet_mac_address: port.mac, mtu: network.mtu })),
  networks: nics.map(({ network }, index) => ({ id: `network${index}`, network_id: network.id, type: 'ipv4_dhcp', link: `link${index}` })),
  services: [...new Set(nics.flatMap(({ network }) => network.dns))].map((address) => ({ type: 'dns', address })),
});

/** Answers a path below `/openstack`. */
export const openstack = (view: GuestView, path: string[]): Answer => {
  const [version, file, ...rest] = path;
  if (version === undefined) return text(versions.join('\n'));
  if (!versions.includes(version) || rest.length > 0) return null;
  const { userData } = view.instance;
  switch (file) {
    case undefined:
      return text(['meta_data.json', 'network_data.json', 'vendor_data.json', ...(userData.length > 0 ? ['user_data'] : [])].join('\n'));
    case 'meta_data.json':
      return json(metaData(view));
    case 'network_data.json':
      return json(networkData(view));
    case 'vendor_data.json':
      return json({});
    case 'user_data':
      return userData.length > 0 ? bytes(userData) : null;
    default:
      return null;
  }
};
