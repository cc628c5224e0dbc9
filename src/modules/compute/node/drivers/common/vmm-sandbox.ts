import type { Sandbox } from '../../../../../core/host/sandbox/sandbox';
import { socketFolder } from './vmm-files';
import type { VmDisk, VmSpec } from '../vmm-driver';

/** What all VMMs of a host have in common. */
export interface VmmSandboxOptions {
  /** User id of the trial guests that a probe boots. */
  trialUser: number;
  /** Group that may open the taps of instances. */
  tapGroup: number;
  /** Files and folders that the VMM needs besides what lies under /usr and beside it. */
  readOnlyPaths: readonly string[];
}

const fixed = (spec: VmSpec): VmDisk[] => spec.disks.filter((disk) => disk.detachable !== true);

/** The VMM's own folder and the instance's disks, the devices that it opens, and the files that it only reads. */
export const vmmSandbox = (
  spec: VmSpec,
  { tapGroup, readOnlyPaths }: VmmSandboxOptions,
  kvm: boolean,
  readOnly: readonly string[],
): Pick<Sandbox, 'user' | 'groups' | 'readOnly' | 'writable' | 'devices'> => ({
  user: spec.user,
  groups: spec.nics.length > 0 ? [tapGroup] : [],
  readOnly: [
    ...readOnlyPaths,
    ...readOnly,
    ...fixed(spec)
      .filter((disk) => disk.readonly)
      .map((disk) => disk.path),
  ],
  writable: [
    socketFolder(spec),
    // They are root's, so nothing can be put into them; what lies in them is the VMM's own.
    ...(spec.diskFolders ?? []),
    ...fixed(spec)
      .filter((disk) => !disk.readonly)
      .map((disk) => disk.path),
  ],
  devices: [...(kvm ? ['/dev/kvm'] : []), ...(spec.nics.length > 0 ? ['/dev/net/tun'] : [])],
});
