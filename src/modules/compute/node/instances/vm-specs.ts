import { injectable } from 'inversify';
import { together } from '../../../../core/host/together';
import { PortAttachments } from '../../../network/contract/network.ports';
import { VolumePaths } from '../../../storage/contract/storage.ports';
import type { Limits } from '../../contract/limits';
import type { VmDisk, VmNic, VmSpec } from '../drivers/vmm-driver';
import { ConfigDrives } from '../seeds/config-drive';
import type { InstanceRecord } from './instance-record';
import { HostShares } from '../shares/host-shares';
import { InstanceStore } from './instance-store';

/** What a driver is told of an instance: what management wants of it, with where its disks and cards are on this host. */
@injectable()
export class VmSpecs {
  constructor(
    private readonly store: InstanceStore,
    private readonly ports: PortAttachments,
    private readonly volumes: VolumePaths,
    private readonly drives: ConfigDrives,
    private readonly shares: HostShares,
  ) {}

  /** One of its cards, and the namespace that its tap is in. Throws what the network module answers. */
  async nic(
    { instanceId, spec }: Pick<InstanceRecord, 'instanceId' | 'spec'>,
    portId: string,
  ): Promise<{ nic: VmNic; netns: string | null }> {
    const { netns, nics } = await this.ports.of(instanceId, [portId]);
    const [found] = nics;
    if (!found) throw new Error('one port in, one card out');
    return { nic: nicOf(found, spec.limits), netns };
  }

  /**
   * One of its data disks, which is the instance's from now on. Throws what the storage module answers.
   */
  async disk({ instanceId, spec }: Pick<InstanceRecord, 'instanceId' | 'spec'>, volumeId: string): Promise<VmDisk> {
    const disk = spec.disks.find((one) => one.volumeId === volumeId);
    if (!disk) throw new Error(`the instance has no disk ${volumeId}`);
    const { path, format } = await this.volumes.attach(instanceId, disk);
    return { id: volumeId, path, format, readonly: disk.readonly, detachable: true };
  }

  /** It has the data disks on its record and no others, without a machine. Throws what the storage module answers. */
  async settleDisks(record: Pick<InstanceRecord, 'instanceId' | 'spec'>): Promise<VmDisk[]> {
    const wanted = dataDisks(record);
    await this.volumes.keepOnly(record.instanceId, wanted);
    const disks: VmDisk[] = [];
    for (const volumeId of wanted) disks.push(await this.disk(record, volumeId));
    return disks;
  }

  /** It has no data disk any more, and no place for them. */
  forgetDisks(instanceId: string): Promise<void> {
    return this.volumes.forget(instanceId);
  }

  /** What lies beside the disk that it boots from. */
  private kernel({ spec }: InstanceRecord): Pick<VmSpec, 'kernel'> {
    const [boot] = spec.disks;
    if (!spec.kernel || !boot) return {};
    const { commandLine } = spec.kernel;
    const { kernel, initramfs } = this.volumes.bootFiles(boot.volumeId, boot.pool);
    return { kernel: { path: kernel, initramfs: spec.kernel.initramfs ? initramfs : null, commandLine } };
  }

  /** Throws what the modules answer that do not have a port or a volume of it. */
  async of(record: InstanceRecord): Promise<VmSpec> {
    const { instanceId, spec } = record;
    const attached = await this.ports.of(instanceId, spec.ports);
    const disks: VmDisk[] = await Promise.all(
      spec.disks
        .filter(({ detachable }) => detachable !== true)
        .map(async (disk) => {
          const { path, format } = await this.volumes.locate(disk.volumeId, disk.pool);
          return { id: disk.volumeId, path, format, readonly: disk.readonly };
        }),
    );
    const [diskFolders, data, shares] = await together(
      this.volumes.folders(instanceId),
      this.settleDisks(record),
      this.shares.of(spec.shares),
    );
    if (spec.configDrive !== undefined)
      disks.push({ id: 'config-drive', path: this.drives.path(instanceId), format: 'raw', readonly: true });
    return {
      instanceId,
      name: spec.name,
      vcpus: spec.vcpus,
      memoryBytes: spec.memoryBytes,
      ...(spec.max !== undefined && { max: spec.max }),
      disks: [...disks, ...data],
      diskFolders,
      ...this.kernel(record),
      ...(spec.firmware !== undefined && { firmware: spec.firmware }),
      ...(spec.machine !== undefined && { machine: spec.machine }),
      ...(spec.limits !== undefined && { limits: spec.limits }),
      ...(spec.hardware !== undefined && { hardware: spec.hardware }),
      // Who gives them out reads and writes the guest's memory.
      ...(shares.length > 0 && { shares, hardware: { ...spec.hardware, sharedMemory: true as const } }),
      nics: attached.nics.map((nic) => nicOf(nic, spec.limits)),
      netns: attached.netns,
      user: record.user,
      runDir: this.store.runDirectory(instanceId),
      logDir: this.store.directory(instanceId),
    };
  }
}

/** Volumes that come and go. */
export const dataDisks = ({ spec }: Pick<InstanceRecord, 'spec'>): string[] =>
  spec.disks.flatMap(({ volumeId, detachable }) => (detachable === true ? [volumeId] : []));

const nicOf = (
  { portId, tap, mac, mtu }: { portId: string; tap: string; mac: string; mtu: number },
  limits: Limits | undefined,
): VmNic => ({
  id: portId,
  tap,
  mac,
  mtu,
  ...(limits?.nic && { limit: limits.nic }),
});
