import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import type { Scenario, ScenarioCloud, Scenarios, ScenarioSubject } from '../../../core/testing/scenario';
import type { LeftoverListing } from '../contract/leftover';

const theHost = async (cloud: ScenarioCloud): Promise<ScenarioSubject> => {
  const { items } = await cloud.api.ok<{ items: { id: string; name: string }[] }>('GET', '/hosts');
  const [host] = items;
  if (!host) throw new Error('there is no host');
  return { kind: 'host', id: host.id, name: host.name };
};

/** A folder of an instance that nobody knows. */
const removeLeftovers = (): Scenario => {
  const folders = new WeakMap<ScenarioSubject, string>();
  const folderOf = (cloud: ScenarioCloud, subject: ScenarioSubject): string => {
    const id = folders.get(subject);
    if (id === undefined) throw new Error('the scenario was not prepared');
    return cloud.hostPath('instances', id);
  };
  return {
    prepare: async (cloud) => {
      const subject = await theHost(cloud);
      folders.set(subject, randomUUID());
      await mkdir(folderOf(cloud, subject), { recursive: true, mode: 0o700 });
      return subject;
    },
    start: async (cloud, subject) => {
      const { ino } = statSync(folderOf(cloud, subject));
      const { leftovers } = await cloud.api.ok<LeftoverListing>('GET', `/hosts/${subject.id}/leftovers`);
      const mine = leftovers.filter(({ name, mark }) => name === folders.get(subject) && mark.includes(`:${ino}:`));
      const { taskId } = await cloud.api.ok<{ taskId: string }>(
        'POST',
        `/hosts/${subject.id}/actions/remove-leftovers`,
        { leftovers: mine.map(({ kind, name, mark }) => ({ kind, name, mark })) },
      );
      return { taskId, subject };
    },
    sight: async (cloud, subject) => Promise.resolve({ folder: existsSync(folderOf(cloud, subject)) }),
    cleanUp: (cloud, subject) => rm(folderOf(cloud, subject), { recursive: true, force: true }),
  };
};

export const hostScenarios: Scenarios = {
  'host.test': {
    prepare: theHost,
    start: async (cloud, subject) => ({
      taskId: (await cloud.api.ok<{ taskId: string }>('POST', `/hosts/${subject.id}/actions/test`)).taskId,
      subject,
    }),
    cleanUp: () => Promise.resolve(),
  },
  'host.remove-leftovers': removeLeftovers(),
};
