import type { z } from 'zod';
import type { UsableImage } from '../../../image/contract/image.ports';
import type { InstanceSpec } from '../../contract/instance-spec';
import type { instanceSeed } from '../../contract/instance.verbs';
import type { InstanceEntity } from './instance.entity';

/** What the image asks for, if anything; tasks from before firmwares were recorded have none. */
export const firmwareOf = ({ firmware }: { firmware?: InstanceEntity['firmware'] }): Pick<InstanceSpec, 'firmware'> =>
  firmware === undefined || firmware === 'any' ? {} : { firmware };

/** How an instance boots that is made of the image. */
export const kernelOf = ({ kernel }: Pick<UsableImage, 'kernel'>): InstanceEntity['kernel'] =>
  kernel && { commandLine: kernel.commandLine, initramfs: kernel.initramfs !== null };

/** By which kernel it boots, if by any; tasks and rescues from before there were such have none. */
export const bootKernelOf = ({ kernel }: { kernel?: InstanceEntity['kernel'] }): Pick<InstanceSpec, 'kernel'> =>
  kernel == null ? {} : { kernel };

/** The drive that the user asked for, if any; tasks from before there were drives have none. */
export const configDriveOf = ({
  configDrive,
}: {
  configDrive?: InstanceEntity['configDrive'];
}): Pick<InstanceSpec, 'configDrive'> => (configDrive == null ? {} : { configDrive });

/** What is asked of its machine, if anything; tasks from before there were such options have nothing. */
export const machineOf = ({ machine }: { machine?: InstanceEntity['machine'] }): Pick<InstanceSpec, 'machine'> =>
  machine === undefined || Object.keys(machine).length === 0 ? {} : { machine };

/** The most that it may get while it runs, if it may; tasks from before there was one have none. */
export const maxOf = ({
  vcpus,
  memoryBytes,
  maxVcpus,
  maxMemoryBytes,
}: Pick<InstanceEntity, 'vcpus' | 'memoryBytes'> & Partial<Pick<InstanceEntity, 'maxVcpus' | 'maxMemoryBytes'>>): Pick<
  InstanceSpec,
  'max'
> =>
  maxVcpus == null && maxMemoryBytes == null
    ? {}
    : { max: { vcpus: Math.max(vcpus, maxVcpus ?? 0), memoryBytes: Math.max(memoryBytes, maxMemoryBytes ?? 0) } };

/** What users gave it by key for the seed, if there is some. */
export const metadataOf = ({ metadata }: Pick<InstanceEntity, 'metadata'>): { metadata?: Record<string, string> } =>
  Object.keys(metadata).length === 0 ? {} : { metadata };

/** Its restart policy, where it has one; tasks from before there were any have none. */
export const restartPolicyOf = ({
  restartPolicy,
}: {
  restartPolicy?: InstanceEntity['restartPolicy'];
}): Pick<InstanceSpec, 'restartPolicy'> => (restartPolicy === 'on-failure' ? { restartPolicy } : {});

/** Its shares, if it has any, and the project that is given them; tasks from before there were any have none. */
export const sharesOf = ({
  projectId,
  shares = [],
}: Pick<InstanceEntity, 'projectId'> & Partial<Pick<InstanceEntity, 'shares'>>): Pick<InstanceSpec, 'shares'> =>
  shares.length === 0 ? {} : { shares: { projectId, wanted: shares } };

/** Vendor data for the seed, if there is some. */
export const vendorDataOf = ({ vendorData }: Pick<InstanceEntity, 'vendorData'>): { vendorData?: string } =>
  vendorData === '' ? {} : { vendorData };

/** All that a guest is told of its instance. `project`: its name. */
export const seedOf = (i: InstanceEntity, project: string): z.output<typeof instanceSeed.args> => ({
  instanceId: i.id,
  name: i.name,
  hostname: i.hostname,
  sshKeys: i.sshKeys,
  userData: i.userData,
  ...vendorDataOf(i),
  ...metadataOf(i),
  flavor: i.flavorName,
  project,
});
