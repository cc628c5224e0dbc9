import type { RemoteSpec, TxStep } from '../../../core/workflow/definition/definition';
import { certain, type Known } from '../../../core/workflow/definition/fragment';
import type { Volumes } from './storage.ports';
import { volumeAbsent, volumeEnsure, volumeGrow } from './volume.verbs';

interface OfInstance {
  instanceId: string;
}

/** A volume where it lies. */
interface Placed {
  hostId: string;
  volumeId: string;
  pool: string;
}

/** The instance's root volume is recorded: from here on it counts, and has its name in a pool. */
export const recordRootVolume = <I extends OfInstance, O>(
  volumes: Volumes,
  wanted: Known<I, O, { projectId: string; name: string; hostId: string; imageId: string; diskBytes: number }>,
): TxStep<I, O, { volumeId: string; pool: string; bytes: number; imageId: string }> => ({
  title: 'Reserve the root volume',
  run: async (c) => {
    const { projectId, name, hostId, imageId, diskBytes } = certain(wanted, c);
    const { instanceId } = c.input;
    const root = await volumes.createRoot(c.op, { instanceId, projectId, name, hostId, imageId, bytes: diskBytes });
    return { volumeId: root.id, pool: root.pool, bytes: root.bytes, imageId };
  },
  undo: (c) => volumes.remove(c.op, c.input.instanceId),
});

/** The host makes the volume, empty or of an image that it has; undone, nothing is left of it. */
export const createVolume = <I, O>(
  wanted: Known<I, O, Placed & { bytes: number; imageId: string | null }>,
  title = 'Create the root volume',
): RemoteSpec<
  I,
  O,
  { volumeId: string; pool: string; bytes: number; imageId: string | null },
  { bytes: number },
  { volumeId: string; pool: string },
  object
> => ({
  title,
  verb: volumeEnsure,
  node: (c) => certain(wanted, c).hostId,
  args: (c) => {
    const { volumeId, pool, bytes, imageId } = certain(wanted, c);
    return { volumeId, pool, bytes, imageId };
  },
  undo: {
    verb: volumeAbsent,
    node: (c) => wanted(c)?.hostId,
    args: (c) => {
      const { volumeId, pool } = certain(wanted, c);
      return { volumeId, pool };
    },
  },
});

/** The volume grows where it lies, where it is to; its guest finds it larger at the next start. */
export const growVolume = <I, O>(
  wanted: Known<I, O, Placed & { bytes: number }>,
): RemoteSpec<I, O, { volumeId: string; pool: string; bytes: number }, { bytes: number }> => ({
  title: 'Grow the root volume',
  verb: volumeGrow,
  when: (c) => wanted(c) !== undefined,
  node: (c) => certain(wanted, c).hostId,
  args: (c) => {
    const { volumeId, pool, bytes } = certain(wanted, c);
    return { volumeId, pool, bytes };
  },
  noUndo: 'a disk that is larger than it needs to be does no harm, and what it holds stays',
});

/** The volume's bytes are gone from the host. Skipped without a volume; a host that is lost does so when it is back. */
export const deleteVolume = <I, O>(
  of: Known<I, O, Placed>,
  noUndo: string,
  title = 'Delete the root volume',
): RemoteSpec<I, O, { volumeId: string; pool: string }, object> => ({
  title,
  verb: volumeAbsent,
  when: (c) => of(c) !== undefined,
  node: (c) => certain(of, c).hostId,
  args: (c) => {
    const { volumeId, pool } = certain(of, c);
    return { volumeId, pool };
  },
  tolerateLostNode: true,
  noUndo,
});
