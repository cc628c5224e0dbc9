import type { Scenarios } from '../../../core/testing/scenario';
import { removeInstance, running } from '../../compute/testing/running-instance';

export const networkScenarios: Scenarios = {
  'host.sync-network': {
    prepare: running,
    start: async (cloud, subject) => {
      const known = (await cloud.query<{ id: string }>(`SELECT id FROM task WHERE type = 'host.sync-network'`)).map(
        (row) => row.id,
      );
      await cloud.api.ok('PATCH', '/subnets/net?project=default', { dns: ['192.0.2.53'] });
      const [task] = await cloud.query<{ id: string }>(
        `SELECT id FROM task WHERE type = 'host.sync-network' AND created_by <> 'system' AND id <> ALL($1::uuid[])`,
        [known],
      );
      if (!task) throw new Error('the change of the subnet started no task');
      return { taskId: task.id, subject };
    },
    cleanUp: removeInstance,
  },
};
