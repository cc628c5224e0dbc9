import { bytes, text, type Answer, type GuestView } from './guest-view';

/** A JSON string is a quoted YAML string. Quoting everything keeps YAML 1.1 from reading an all-digit MAC as a number in base 60. */
const quoted = (value: string): string => JSON.stringify(value);

const metaData = ({ instance }: GuestView): string =>
  [
    `instance-id: ${quoted(instance.instanceId)}`,
    `local-hostname: ${quoted(instance.hostname)}`,
    ...(instance.sshKeys.length > 0 ? ['public-keys:', ...instance.sshKeys.map((key) => `  - ${quoted(key)}`)] : []),
    '',
  ].join('\n');

const networkConfig = ({ nics }: GuestView): string =>
  ['version: 2', 'ethernets:', ...nics.flatMap(({ port }, index) => [`  nic${index}:`, '    match:', `      macaddress: ${quoted(port.mac)}`, '    dhcp4: true']), ''].join('\n');

/** Answers a path below `/nocloud`, the seed of cloud-init's `ds=nocloud;s=http://169.254.169.254/nocloud/`. */
export const nocloud = (view: GuestView, path: string[]): Answer => {
  if (path.length > 1) return null;
  switch (path[0]) {
    case undefined:
      return text('meta-data\nnetwork-config\nuser-data\nvendor-data');
    case 'meta-data':
      return text(metaData(view));
    case 'network-config':
      return text(networkConfig(view));
    case 'user-data':
      return bytes(view.instance.userData);
    case 'vendor-data':
      return text(view.instance.vendorData);
    default:
      return null;
  }
};
