import { withoutNulls } from './decode';
import type { VersionProfile } from './profile';

type Members = Record<string, unknown>;

/** Members that came after a release, by the object that has them. */
const later: Record<string, readonly string[]> = {
  cpus: ['core_scheduling', 'profile'],
  memory: ['reserve'],
  platform: [
    'iommufd',
    'vfio_p2p_dma',
    'system_manufacturer',
    'system_product_name',
    'system_version',
    'system_family',
    'system_sku_number',
    'chassis_asset_tag',
  ],
};
const olderNames: Record<string, string> = { system_serial_number: 'serial_number', system_uuid: 'uuid' };

const asOlder = (config: Members): Members => {
  const result = { ...config };
  for (const [part, names] of Object.entries(later)) {
    const members = result[part];
    if (typeof members !== 'object' || members === null) continue;
    result[part] = Object.fromEntries(
      Object.entries(members)
        .filter(([name]) => !names.includes(name))
        .map(([name, value]) => [olderNames[name] ?? name, value]),
    );
  }
  delete result['rtc'];
  delete result['generic_vhost_user'];
  return result;
};

/** Without `iommu: false`, throughout. */
const withoutOff = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutOff);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => name !== 'iommu' || member !== false)
      .map(([name, member]) => [name, withoutOff(member)]),
  );
};

/** A configuration as the release answers it. */
export const presentConfig = (config: Members, profile: VersionProfile): unknown => {
  if (!profile.omitsNull) return asOlder(config);
  const { iommu, ...rest } = config;
  // Of devices only: the VM's own is always told.
  return withoutNulls({ ...(withoutOff(rest) as Members), iommu });
};
