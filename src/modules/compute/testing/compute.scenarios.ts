import type { Scenario, Scenarios, ScenarioCloud, ScenarioSubject } from '../../../core/testing/scenario';
import { create, finish, removeInstance, running, type Accepted } from './running-instance';

const stopped = async (cloud: ScenarioCloud): Promise<ScenarioSubject> => {
  const subject = await running(cloud);
  // By force: whether a guest that has only just booted takes its power button is not what is tested.
  await finish(
    cloud,
    (await cloud.api.ok<Accepted>('POST', `/instances/${subject.id}/actions/stop`, { force: true })).taskId,
  );
  return subject;
};

/** One whose guest gives memory back. */
const ballooned = (cloud: ScenarioCloud): Promise<ScenarioSubject> =>
  running(cloud, { flavor: 'wide', machine: { balloon: true } });

/** One that may get more while it runs. */
const growing = (cloud: ScenarioCloud): Promise<ScenarioSubject> =>
  running(cloud, { maxVcpus: 4, maxMemoryBytes: 2 ** 29 });

const paused = async (cloud: ScenarioCloud): Promise<ScenarioSubject> => {
  const subject = await running(cloud);
  await finish(cloud, (await cloud.api.ok<Accepted>('POST', `/instances/${subject.id}/actions/pause`, {})).taskId);
  return subject;
};

const suspended = async (cloud: ScenarioCloud): Promise<ScenarioSubject> => {
  const subject = await running(cloud);
  await finish(cloud, (await cloud.api.ok<Accepted>('POST', `/instances/${subject.id}/actions/suspend`, {})).taskId);
  return subject;
};

/** One that runs, with a core dump. */
const dumped = async (cloud: ScenarioCloud): Promise<ScenarioSubject> => {
  const subject = await running(cloud);
  await finish(cloud, (await cloud.api.ok<Accepted>('POST', `/instances/${subject.id}/actions/core-dump`, {})).taskId);
  return subject;
};

const rescued = async (cloud: ScenarioCloud): Promise<ScenarioSubject> => {
  const subject = await stopped(cloud);
  const path = `/instances/${subject.id}/actions/rescue`;
  await finish(cloud, (await cloud.api.ok<Accepted>('POST', path, { image: 'base' })).taskId);
  return subject;
};

const verb = (prepare: Scenario['prepare'], path: string, body: object): Scenario => ({
  prepare,
  start: async (cloud, subject) => ({
    taskId: (await cloud.api.ok<Accepted>('POST', `/instances/${subject.id}/actions/${path}`, body)).taskId,
    subject,
  }),
  cleanUp: removeInstance,
});

/** One that runs, with a second card. */
const withPort = async (cloud: ScenarioCloud): Promise<ScenarioSubject> => {
  const subject = await running(cloud);
  await finish(cloud, (await attach(cloud, subject)).taskId);
  return subject;
};

const attach = (cloud: ScenarioCloud, { id }: ScenarioSubject): Promise<Accepted> =>
  cloud.api.ok<Accepted>('POST', `/instances/${id}/ports`, { network: 'net' });

/** Its newest port. */
const lastPort = async (cloud: ScenarioCloud, { id }: ScenarioSubject): Promise<string> =>
  (await cloud.api.ok<{ ports: { id: string }[] }>('GET', `/instances/${id}`)).ports.at(-1)?.id ?? '';

interface MadeVolume {
  volume: { id: string };
  taskId: string;
}

/** One that runs, and a volume beside it, called as it is. */
const withVolume = async (cloud: ScenarioCloud): Promise<ScenarioSubject> => {
  const subject = await running(cloud);
  const body = { name: subject.name, bytes: 64 * 1024 * 1024, instance: subject.id };
  const { taskId } = await cloud.api.ok<MadeVolume>('POST', '/volumes?project=default', body);
  await finish(cloud, taskId);
  return subject;
};

const withDisk = async (cloud: ScenarioCloud): Promise<ScenarioSubject> => {
  const subject = await withVolume(cloud);
  await finish(cloud, (await attachDisk(cloud, subject)).taskId);
  return subject;
};

const attachDisk = (cloud: ScenarioCloud, { id, name }: ScenarioSubject): Promise<Accepted> =>
  cloud.api.ok<Accepted>('POST', `/instances/${id}/volumes`, { volume: name });

const removeWithVolume = async (cloud: ScenarioCloud, subject: ScenarioSubject): Promise<void> => {
  await removeInstance(cloud, subject);
  const answer = await cloud.api.call<MadeVolume>('DELETE', `/volumes/${subject.name}?project=default`);
  if (answer.status === 404) return;
  if (answer.status >= 300) throw new Error(`deleting the volume: ${answer.status} ${JSON.stringify(answer.body)}`);
  await finish(cloud, answer.body.taskId);
};

export const computeScenarios: Scenarios = {
  'instance.create': {
    prepare: async (cloud) => ({ kind: 'instance', id: '', name: cloud.name('vm') }),
    start: async (cloud, subject) => {
      const { instance, taskId } = await create(cloud, subject.name);
      return { taskId, subject: { ...subject, id: instance.id } };
    },
    cleanUp: removeInstance,
  },
  'instance.create-batch': {
    prepare: async (cloud) => ({ kind: 'instance', id: '', name: cloud.name('vm') }),
    start: async (cloud, subject) => {
      const body = { name: subject.name, count: 2, flavor: 'small', image: 'base', networks: [{ network: 'net' }] };
      const { instances, taskId } = await cloud.api.ok<{ instances: { id: string }[]; taskId: string }>(
        'POST',
        '/instances/batch?project=default',
        body,
      );
      const several = instances.map(({ id }) => id);
      return { taskId, subject: { ...subject, id: several[0] ?? '', several } };
    },
    cleanUp: async (cloud, subject) => {
      for (const id of subject.several ?? []) await removeInstance(cloud, { ...subject, id });
    },
  },
  'instance.delete': {
    prepare: running,
    start: async (cloud, subject) => ({
      taskId: (await cloud.api.ok<Accepted>('DELETE', `/instances/${subject.id}`)).taskId,
      subject,
    }),
    cleanUp: removeInstance,
  },
  'instance.start': verb(stopped, 'start', {}),
  'instance.stop': verb(running, 'stop', {}),
  'instance.reboot': verb(running, 'reboot', {}),
  'instance.pause': verb(running, 'pause', {}),
  'instance.suspend': verb(running, 'suspend', {}),
  'instance.resume': verb(suspended, 'resume', {}),
  'instance.unpause': verb(paused, 'resume', {}),
  'instance.nmi': verb(running, 'nmi', {}),
  'instance.balloon': verb(ballooned, 'balloon', { memoryBytes: 2 ** 27 }),
  'instance.core-dump': verb(running, 'core-dump', {}),
  'instance.delete-core-dump': {
    prepare: dumped,
    start: async (cloud, subject) => {
      const path = `/instances/${subject.id}/core-dumps`;
      const { items } = await cloud.api.ok<{ items: { id: string }[] }>('GET', path);
      const { taskId } = await cloud.api.ok<{ taskId: string }>('DELETE', `${path}/${items[0]?.id ?? ''}`);
      return { taskId, subject };
    },
    cleanUp: removeInstance,
  },
  'instance.resize': verb(stopped, 'resize', { flavor: 'large' }),
  'instance.resize-running': verb(growing, 'resize', { flavor: 'wide' }),
  'instance.rebuild': verb(stopped, 'rebuild', {}),
  'instance.rescue': verb(stopped, 'rescue', { image: 'base' }),
  'instance.unrescue': verb(rescued, 'unrescue', {}),
  'instance.tell-metadata': {
    prepare: running,
    start: async (cloud, subject) => {
      const body = { metadata: { role: 'web' } };
      const { taskId } = await cloud.api.ok<{ taskId: string }>('PATCH', `/instances/${subject.id}`, body);
      return { taskId, subject };
    },
    cleanUp: removeInstance,
  },
  'instance.attach-volume': {
    prepare: withVolume,
    start: async (cloud, subject) => ({ taskId: (await attachDisk(cloud, subject)).taskId, subject }),
    cleanUp: removeWithVolume,
  },
  'instance.detach-volume': {
    prepare: withDisk,
    start: async (cloud, subject) => {
      const path = `/instances/${subject.id}/volumes/${subject.name}`;
      return { taskId: (await cloud.api.ok<Accepted>('DELETE', path)).taskId, subject };
    },
    cleanUp: removeWithVolume,
  },
  'instance.attach-port': {
    prepare: running,
    start: async (cloud, subject) => ({ taskId: (await attach(cloud, subject)).taskId, subject }),
    cleanUp: removeInstance,
  },
  'instance.detach-port': {
    prepare: withPort,
    start: async (cloud, subject) => {
      const path = `/instances/${subject.id}/ports/${await lastPort(cloud, subject)}`;
      return { taskId: (await cloud.api.ok<Accepted>('DELETE', path)).taskId, subject };
    },
    cleanUp: removeInstance,
  },
};
