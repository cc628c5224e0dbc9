import type { Lane } from './lane';

/** What a task is about. */
export interface Subject {
  kind: 'instance' | 'image' | 'host';
  id: string;
  name: string;
  /** Ids of instances, when it is about several; the first one's is `id`. */
  several?: readonly string[];
}

/**
 * How one workflow is brought about: the cloud before it, and the request that starts it. Everything else is generated.
 */
export interface Scenario {
  /** Returns what the task will be about; with an empty id when the request itself makes it. */
  prepare(lane: Lane): Promise<Subject>;
  /** Returns the task, and the subject with its id. */
  start(lane: Lane, subject: Subject): Promise<{ taskId: string; subject: Subject }>;
  /** Takes away what is left, whatever came of it. */
  cleanUp(lane: Lane, subject: Subject): Promise<void>;
}

interface Accepted {
  instance: { id: string };
  taskId: string;
}

const finish = async (lane: Lane, taskId: string): Promise<void> => {
  const state = await lane.settled(taskId);
  if (state !== 'succeeded') throw new Error(`a task of the preparation or the cleaning up is ${state}`);
};

const create = async (lane: Lane, name: string): Promise<Accepted> =>
  lane.api.ok<Accepted>('POST', '/instances?project=default', {
    name,
    flavor: 'small',
    image: 'base',
    networks: [{ network: 'net' }],
    configDrive: 'openstack',
  });

const running = async (lane: Lane): Promise<Subject> => {
  const name = lane.name('vm');
  const { instance, taskId } = await create(lane, name);
  await finish(lane, taskId);
  return { kind: 'instance', id: instance.id, name };
};

const stopped = async (lane: Lane): Promise<Subject> => {
  const subject = await running(lane);
  // By force: whether a guest that has only just booted takes its power button is not what is tested.
  await finish(
    lane,
    (await lane.api.ok<Accepted>('POST', `/instances/${subject.id}/actions/stop`, { force: true })).taskId,
  );
  return subject;
};

const removeInstance = async (lane: Lane, { id }: Subject): Promise<void> => {
  const answer = await lane.api.call<Accepted>('DELETE', `/instances/${id}`);
  if (answer.status === 404) return;
  if (answer.status >= 300) throw new Error(`deleting the instance: ${answer.status} ${JSON.stringify(answer.body)}`);
  await finish(lane, answer.body.taskId);
};

const verb = (prepare: Scenario['prepare'], path: string, body: object): Scenario => ({
  prepare,
  start: async (lane, subject) => ({
    taskId: (await lane.api.ok<Accepted>('POST', `/instances/${subject.id}/actions/${path}`, body)).taskId,
    subject,
  }),
  cleanUp: removeInstance,
});

/** By workflow type. A workflow that is registered and not here fails the run. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  'compute.create-instance': {
    prepare: async (lane) => ({ kind: 'instance', id: '', name: lane.name('vm') }),
    start: async (lane, subject) => {
      const { instance, taskId } = await create(lane, subject.name);
      return { taskId, subject: { ...subject, id: instance.id } };
    },
    cleanUp: removeInstance,
  },
  'compute.create-instances': {
    prepare: async (lane) => ({ kind: 'instance', id: '', name: lane.name('vm') }),
    start: async (lane, subject) => {
      const body = { name: subject.name, count: 2, flavor: 'small', image: 'base', networks: [{ network: 'net' }] };
      const { instances, taskId } = await lane.api.ok<{ instances: { id: string }[]; taskId: string }>(
        'POST',
        '/instances/batch?project=default',
        body,
      );
      const several = instances.map(({ id }) => id);
      return { taskId, subject: { ...subject, id: several[0] ?? '', several } };
    },
    cleanUp: async (lane, subject) => {
      for (const id of subject.several ?? []) await removeInstance(lane, { ...subject, id });
    },
  },
  'compute.delete-instance': {
    prepare: running,
    start: async (lane, subject) => ({
      taskId: (await lane.api.ok<Accepted>('DELETE', `/instances/${subject.id}`)).taskId,
      subject,
    }),
    cleanUp: removeInstance,
  },
  'compute.start-instance': verb(stopped, 'start', {}),
  'compute.stop-instance': verb(running, 'stop', {}),
  'compute.reboot-instance': verb(running, 'reboot', {}),
  'network.sync-host': {
    prepare: running,
    start: async (lane, subject) => {
      const known = (await lane.query<{ id: string }>(`SELECT id FROM task WHERE type = 'network.sync-host'`)).map(
        (row) => row.id,
      );
      await lane.api.ok('PATCH', '/networks/net?project=default', { dns: ['192.0.2.53'] });
      const [task] = await lane.query<{ id: string }>(
        `SELECT id FROM task WHERE type = 'network.sync-host' AND created_by <> 'system' AND id <> ALL($1::uuid[])`,
        [known],
      );
      if (!task) throw new Error('the change of the network started no task');
      return { taskId: task.id, subject };
    },
    cleanUp: removeInstance,
  },
  'host.test': {
    prepare: async (lane) => {
      const { items } = await lane.api.ok<{ items: { id: string; name: string }[] }>('GET', '/hosts');
      const [host] = items;
      if (!host) throw new Error('there is no host to test');
      return { kind: 'host', id: host.id, name: host.name };
    },
    start: async (lane, subject) => ({
      taskId: (await lane.api.ok<{ taskId: string }>('POST', `/hosts/${subject.id}/actions/test`)).taskId,
      subject,
    }),
    cleanUp: () => Promise.resolve(),
  },
  'image.import': {
    prepare: async (lane) => ({ kind: 'image', id: '', name: lane.name('image') }),
    start: async (lane, subject) => {
      const made = await lane.api.ok<{ id: string; taskId: string }>('POST', '/images?project=default', {
        name: subject.name,
        format: 'raw',
        url: `${lane.url}/${subject.name}`,
      });
      return { taskId: made.taskId, subject: { ...subject, id: made.id } };
    },
    cleanUp: async (lane, { id }) => {
      const answer = await lane.api.call<{ taskId?: string } | undefined>('DELETE', `/images/${id}`);
      if (answer.status === 404) return;
      if (answer.status >= 300) throw new Error(`deleting the image: ${answer.status} ${JSON.stringify(answer.body)}`);
      if (answer.body?.taskId !== undefined) await lane.settled(answer.body.taskId);
    },
  },
};
