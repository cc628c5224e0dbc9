import type { Access } from '../../../../core/auth/access';
import type { Op } from '../../../../core/db/rows/op';
import type { Hosts } from '../../../host/contract/host.ports';
import type { InstancePorts } from '../../../network/contract/network.ports';
import type { InstanceEntity } from './instance.entity';
import type { InstancePresenter } from './instance.presenter';
import type { InstanceRepository } from './instance.repository';
import { InstanceService } from './instance.service';

describe('InstanceService', () => {
  const id = '0198b0f4-1111-7000-8000-000000000001';
  const entity = { id, projectId: 'p', state: 'deleting', lock: null } as unknown as InstanceEntity;

  it('finds none where a deletion came to its end between a look and the lock', async () => {
    const there: { row: InstanceEntity | null } = { row: entity };
    const instances = {
      byId: async () => entity,
      lock: async () => there.row,
    } as unknown as InstanceRepository;
    const access = { assert: () => undefined } as unknown as Access;
    const service = new InstanceService(instances, {} as InstancePresenter, {} as Hosts, {} as InstancePorts);
    expect(await service.lockByRef({} as Op, access, undefined, id)).toBe(entity);
    there.row = null;
    await expect(service.lockByRef({} as Op, access, undefined, id)).rejects.toMatchObject({ status: 404 });
  });
});
