import type { ScenarioCloud, ScenarioSubject } from '../../../core/testing/scenario';

export interface Accepted {
  instance: { id: string };
  taskId: string;
}

/** Waits for a task of the preparation or the cleaning up. */
export const finish = async (cloud: ScenarioCloud, taskId: string): Promise<void> => {
  const state = await cloud.settled(taskId);
  if (state !== 'succeeded') throw new Error(`a task of the preparation or the cleaning up is ${state}`);
};

export const create = async (cloud: ScenarioCloud, name: string, also: object = {}): Promise<Accepted> =>
  cloud.api.ok<Accepted>('POST', '/instances?project=default', {
    name,
    flavor: 'small',
    image: 'base',
    networks: [{ network: 'net' }],
    configDrive: 'openstack',
    ...also,
  });

/** An instance that runs, of the chaos cloud's own image, flavor and network. */
export const running = async (cloud: ScenarioCloud, also: object = {}): Promise<ScenarioSubject> => {
  const name = cloud.name('vm');
  const { instance, taskId } = await create(cloud, name, also);
  await finish(cloud, taskId);
  return { kind: 'instance', id: instance.id, name };
};

const attempts = 5;

/** Asked again while the database is away, as the answer says: what came before may have left it busy. */
const asked = async <T extends { status: number }>(ask: () => Promise<T>): Promise<T> => {
  let answer = await ask();
  for (let attempt = 1; answer.status === 503 && attempt < attempts; attempt += 1) answer = await ask();
  return answer;
};

export const removeInstance = async (cloud: ScenarioCloud, { id }: ScenarioSubject): Promise<void> => {
  const answer = await asked(() => cloud.api.call<Accepted>('DELETE', `/instances/${id}`));
  if (answer.status === 404) return;
  if (answer.status >= 300) throw new Error(`deleting the instance: ${answer.status} ${JSON.stringify(answer.body)}`);
  await finish(cloud, answer.body.taskId);
};
