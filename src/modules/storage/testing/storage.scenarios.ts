import type { Scenarios, ScenarioCloud, ScenarioSubject } from '../../../core/testing/scenario';
import { hasVolumeFile } from './volume-files';

interface Accepted {
  volume: { id: string };
  taskId: string;
}

const finish = async (cloud: ScenarioCloud, taskId: string): Promise<void> => {
  const state = await cloud.settled(taskId);
  if (state !== 'succeeded') throw new Error(`a task of the preparation or the cleaning up is ${state}`);
};

const create = (cloud: ScenarioCloud, name: string): Promise<Accepted> =>
  cloud.api.ok<Accepted>('POST', '/volumes?project=default', { name, bytes: 64 * 1024 * 1024 });

const available = async (cloud: ScenarioCloud): Promise<ScenarioSubject> => {
  const name = cloud.name('vol');
  const { volume, taskId } = await create(cloud, name);
  await finish(cloud, taskId);
  return { kind: 'volume', id: volume.id, name };
};

const remove = async (cloud: ScenarioCloud, { id }: ScenarioSubject): Promise<void> => {
  const answer = await cloud.api.call<Accepted>('DELETE', `/volumes/${id}`);
  if (answer.status === 404) return;
  if (answer.status >= 300) throw new Error(`deleting the volume: ${answer.status} ${JSON.stringify(answer.body)}`);
  await finish(cloud, answer.body.taskId);
};

const sight = async (cloud: ScenarioCloud, { id }: ScenarioSubject): Promise<Record<string, unknown>> => ({
  volume: await cloud.query('SELECT role, state, bytes, pool FROM volume WHERE id = $1', [id]),
  attachments: await cloud.query('SELECT position, mode FROM volume_attachment WHERE volume_id = $1', [id]),
  claim: await cloud.query('SELECT bytes, store FROM disk_claim WHERE volume_id = $1', [id]),
  tombstone: await cloud.query('SELECT pool FROM volume_tombstone WHERE volume_id = $1', [id]),
  onHost: hasVolumeFile(cloud, id),
});

export const storageScenarios: Scenarios = {
  'volume.create': {
    prepare: async (cloud) => ({ kind: 'volume', id: '', name: cloud.name('vol') }),
    start: async (cloud, subject) => {
      const { volume, taskId } = await create(cloud, subject.name);
      return { taskId, subject: { ...subject, id: volume.id } };
    },
    sight,
    cleanUp: remove,
  },
  'volume.delete': {
    prepare: available,
    start: async (cloud, subject) => ({
      taskId: (await cloud.api.ok<Accepted>('DELETE', `/volumes/${subject.id}`)).taskId,
      subject,
    }),
    sight,
    cleanUp: remove,
  },
};
