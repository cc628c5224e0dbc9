import type { Scenarios } from '../../../core/testing/scenario';

export const hostScenarios: Scenarios = {
  'host.test': {
    prepare: async (cloud) => {
      const { items } = await cloud.api.ok<{ items: { id: string; name: string }[] }>('GET', '/hosts');
      const [host] = items;
      if (!host) throw new Error('there is no host to test');
      return { kind: 'host', id: host.id, name: host.name };
    },
    start: async (cloud, subject) => ({
      taskId: (await cloud.api.ok<{ taskId: string }>('POST', `/hosts/${subject.id}/actions/test`)).taskId,
      subject,
    }),
    cleanUp: () => Promise.resolve(),
  },
};
