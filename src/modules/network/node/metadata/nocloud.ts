import { bytes, text, type Answer, type GuestView } from './guest-view';

/**
 * A JSON string is a quoted YAML string. Quoting everything keeps YAML 1.1 from reading an all-digit MAC as a number in
 * base 60.
 */
const quoted = (value: string): string => JSON.stringify(value);

/**
 * tiny-cloud reads `hostname`, and keys as EC2 lists them, by number; cloud-init reads `local-hostname`, and of the
 * keys those that are text.
 */
const metaData = ({ instance: { instanceId, hostname, sshKeys } }: GuestView): string =>
  [
    `instance-id: ${quoted(instanceId)}`,
    `hostname: ${quoted(hostname)}`,
    `local-hostname: ${quoted(hostname)}`,
    ...(sshKeys.length > 0
      ? [
          'public-keys:',
          ...sshKeys.map((key, index) => `  "${index}": { "openssh-key": ${quoted(key)} }`),
          ...sshKeys.map((key, index) => `  "key-${index}": ${quoted(key)}`),
        ]
      : []),
    '',
  ].join('\n');

const networkConfig = ({ nics }: GuestView): string =>
  [
    'version: 2',
    'ethernets:',
    ...nics.flatMap(({ port }, index) => [
      `  nic${index}:`,
      '    match:',
      `      macaddress: ${quoted(port.mac)}`,
      '    dhcp4: true',
    ]),
    '',
  ].join('\n');

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
