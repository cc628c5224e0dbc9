import { conflict, type Problem } from '../../../core/errors/problem';
import type { ShownVolume } from './volume.repository';

export const rootVolume = (volume: Pick<ShownVolume, 'instanceId'>): Problem =>
  conflict('root_volume', 'It is a disk that an instance boots from, and goes with it or with its rescue.', {
    instance: volume.instanceId,
  });

export const attachedElsewhere = ({ name }: Pick<ShownVolume, 'name'>, id: string, instance: string): Problem =>
  conflict('volume_in_use', `The volume "${name}" is attached to the instance "${instance}": detach it first.`, {
    users: [{ kind: 'instance', id, name: instance, href: `/api/v1/instances/${id}` }],
    count: 1,
  });
