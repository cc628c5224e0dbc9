import { bytes, json, subnetOf, text, type Answer, type GuestView } from './guest-view';

/** All dated versions that agents ask for; the tree is the same under each, and grows only. */
const versions = [
  '2012-08-10',
  '2013-04-04',
  '2013-10-17',
  '2015-10-15',
  '2016-06-30',
  '2016-10-06',
  '2017-02-22',
  '2018-08-27',
  '2020-10-14',
  'latest',
];
const keyName = (index: number): string => `key-${index}`;

const metaData = ({ instance }: GuestView): object => ({
  uuid: instance.instanceId,
  name: instance.name,
  hostname: instance.hostname,
  project_id: instance.project,
  availability_zone: 'default',
  launch_index: 0,
  devices: [],
  meta: instance.metadata,
  public_keys: Object.fromEntries(instance.sshKeys.map((key, index) => [keyName(index), key])),
  keys: instance.sshKeys.map((key, index) => ({ name: keyName(index), type: 'ssh', data: key })),
});

/** All cards in the user's order. Addresses and routes come by DHCP, which gives the default route to one card only. */
const networkData = ({ nics }: GuestView): object => ({
  links: nics.map(({ port, network }, index) => ({
    id: `link${index}`,
    vif_id: port.id,
    type: 'phy',
    ethernet_mac_address: port.mac,
    mtu: network.mtu,
  })),
  networks: nics.map(({ network }, index) => ({
    id: `network${index}`,
    network_id: network.id,
    type: 'ipv4_dhcp',
    link: `link${index}`,
  })),
  services: [...new Set(nics.flatMap((nic) => subnetOf(nic)?.dns ?? []))].map((address) => ({ type: 'dns', address })),
});

/** Files of a version. What an instance does not have is not there: agents take an empty file for one. */
const files = (view: GuestView): Record<string, Answer> => ({
  'meta_data.json': json(metaData(view)),
  'network_data.json': json(networkData(view)),
  // The form in which cloud-init takes text that is its own.
  ...(view.instance.vendorData !== '' && { 'vendor_data.json': json({ 'cloud-init': view.instance.vendorData }) }),
  ...(view.instance.userData.length > 0 && { user_data: bytes(view.instance.userData) }),
});

/** Whether a path below `/openstack` is that of the administrator's password, which guests of Windows make and tell. */
export const isPassword = ([version, file, ...rest]: string[]): boolean =>
  version !== undefined && versions.includes(version) && file === 'password' && rest.length === 0;

/** Answers a path below `/openstack`, as OpenStack's metadata service does. */
export const openstack = (view: GuestView, path: string[]): Answer => {
  const [version, file, ...rest] = path;
  if (version === undefined) return text(versions.join('\n'));
  if (!versions.includes(version) || rest.length > 0) return null;
  const found = files(view);
  if (file === undefined) return text(Object.keys(found).join('\n'));
  return Object.hasOwn(found, file) ? (found[file] ?? null) : null;
};
