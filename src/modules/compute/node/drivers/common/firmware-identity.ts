/** What the firmware's tables (SMBIOS) tell a guest about the machine that it runs on. */
export interface FirmwareIdentity {
  manufacturer: string;
  product: string;
  serial: string;
  /** Null for an instance whose id is no UUID. */
  uuid: string | null;
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The product's name is what makes guests look for metadata at all: every cloud-init since 2017 takes `OpenStack
 * Compute` for a machine with OpenStack's metadata service, and other agents do the same. The UUID is the instance's
 * id, by which cloud-init knows at its next boot, before there is a network, that it is still the same instance.
 */
export const firmwareIdentity = (instanceId: string): FirmwareIdentity => ({
  manufacturer: 'VC Stack',
  product: 'OpenStack Compute',
  serial: instanceId,
  uuid: uuidPattern.test(instanceId) ? instanceId.toLowerCase() : null,
});

/** Serial number for a VMM that cannot set the product's name: where cloud-init finds a seed in NoCloud's form. */
export const seedSerial = 'ds=nocloud-net;s=http://169.254.169.254/nocloud/';
