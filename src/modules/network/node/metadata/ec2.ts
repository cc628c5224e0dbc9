import { bytes, subnetOf, text, type Answer, type GuestView } from './guest-view';

/** All dated versions that EC2 has; the tree is the same under each. */
const versions = [
  '1.0',
  '2007-01-19',
  '2007-03-01',
  '2007-08-29',
  '2007-10-10',
  '2007-12-15',
  '2008-02-01',
  '2008-09-01',
  '2009-04-04',
  '2011-01-01',
  '2011-05-01',
  '2012-01-12',
  '2014-02-25',
  '2014-11-05',
  '2015-10-20',
  '2016-04-19',
  '2016-06-30',
  '2016-09-02',
  '2018-03-28',
  '2018-08-17',
  '2018-09-24',
  '2019-10-01',
  '2020-10-27',
  '2021-01-03',
  '2021-03-23',
  '2021-07-15',
  '2022-07-09',
  '2022-09-24',
  '2024-04-11',
  'latest',
];

interface Tree {
  [name: string]: string | Tree;
}

/** Everything below `meta-data`. */
export const ec2MetaData = ({ port, nics, instance }: GuestView): Tree => ({
  hostname: instance.hostname,
  'instance-id': instance.instanceId,
  'instance-type': instance.flavor,
  'local-hostname': instance.hostname,
  'local-ipv4': port.addresses[0]?.address ?? '',
  mac: port.mac,
  network: {
    interfaces: {
      macs: Object.fromEntries(
        nics.map((nic, index) => [
          nic.port.mac,
          {
            'device-number': String(index),
            'interface-id': nic.port.id,
            'local-hostname': instance.hostname,
            'local-ipv4s': nic.port.addresses.map(({ address }) => address).join('\n'),
            mac: nic.port.mac,
            'subnet-ipv4-cidr-block': subnetOf(nic)?.cidr ?? '',
          },
        ]),
      ),
    },
  },
  ...(instance.sshKeys.length > 0 && {
    'public-keys': Object.fromEntries(instance.sshKeys.map((key, index) => [String(index), { 'openssh-key': key }])),
  }),
});

/** A folder's listing; the keys' folder names them, as EC2 does. */
const listing = (tree: Tree, path: string[]): string =>
  Object.entries(tree)
    .map(([name, value]) =>
      path.length === 1 && path[0] === 'public-keys'
        ? `${name}=key-${name}`
        : typeof value === 'string'
          ? name
          : `${name}/`,
    )
    .join('\n');

/** Answers an EC2-style path, split at slashes, without the empty parts. */
export const ec2 = (view: GuestView, path: string[]): Answer => {
  const [version, section, ...rest] = path;
  if (version === undefined) return text(versions.join('\n'));
  if (!versions.includes(version)) return null;
  if (section === undefined) return text(view.instance.userData.length > 0 ? 'meta-data\nuser-data' : 'meta-data');
  if (section === 'user-data')
    return rest.length === 0 && view.instance.userData.length > 0 ? bytes(view.instance.userData) : null;
  if (section !== 'meta-data') return null;
  let node: string | Tree = ec2MetaData(view);
  for (const name of rest) {
    if (typeof node === 'string' || !Object.hasOwn(node, name)) return null;
    node = node[name] ?? '';
  }
  return text(typeof node === 'string' ? node : listing(node, rest));
};
