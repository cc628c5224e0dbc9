import type { InstanceSpec } from '../../contract/instance.verbs';
import type { InstanceEntity } from './instance.entity';

/** What the image asks for, if anything; tasks from before firmwares were recorded have none. */
export const firmwareOf = ({ firmware }: { firmware?: InstanceEntity['firmware'] }): Pick<InstanceSpec, 'firmware'> =>
  firmware === undefined || firmware === 'any' ? {} : { firmware };

/** The drive that the user asked for, if any; tasks from before there were drives have none. */
export const configDriveOf = ({
  configDrive,
}: {
  configDrive?: InstanceEntity['configDrive'];
}): Pick<InstanceSpec, 'configDrive'> => (configDrive == null ? {} : { configDrive });

/** Vendor data for the seed, if there is some. */
export const vendorDataOf = ({ vendorData }: Pick<InstanceEntity, 'vendorData'>): { vendorData?: string } =>
  vendorData === '' ? {} : { vendorData };
