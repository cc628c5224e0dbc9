import { randomUUID } from 'node:crypto';
import type { LiveEvent, Outbox } from '../../../src/core/events/outbox';
import { computeEntities } from '../../../src/modules/compute/management/compute.entities';
import { InstanceEvents } from '../../../src/modules/compute/management/instance.events';
import type { InstanceEntity } from '../../../src/modules/compute/management/instance.entity';
import { InstanceRepository } from '../../../src/modules/compute/management/instance.repository';
import { InstanceSteps } from '../../../src/modules/compute/management/workflows/instance-steps';
import type { ObservedInstance } from '../../../src/modules/compute/contract/instance.verbs';
import type { InstancePorts } from '../../../src/modules/network/contract/network.ports';
import type { Volumes } from '../../../src/modules/storage/contract/storage.ports';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';

describe('who decides the state of an instance', () => {
  let db: TestDatabase;
  const published: LiveEvent[] = [];
  const outbox: Outbox = { publish: async (_op, event) => void published.push(event) };
  const instances = new InstanceRepository();
  const events = new InstanceEvents(outbox);
  // The states are asked for here; ports and volumes are not.
  const steps = new InstanceSteps(instances, {} as InstancePorts, {} as Volumes, events);
  const hostId = randomUUID();

  beforeAll(async () => {
    db = await startTestDatabase({ entities: computeEntities });
  }, 60_000);
  afterAll(() => db.close());
  beforeEach(() => published.splice(0));

  const insert = async (changes: Partial<InstanceEntity>): Promise<InstanceEntity> => {
    const id = randomUUID();
    const row: InstanceEntity = {
      id,
      projectId: randomUUID(),
      name: `i-${id}`,
      hostname: 'i',
      description: '',
      flavorId: randomUUID(),
      flavorName: 'tiny',
      vcpus: 1,
      memoryBytes: 2 ** 28,
      diskBytes: 2 ** 25,
      imageId: randomUUID(),
      imageName: 'linux',
      architecture: 'x86_64',
      nics: [],
      sshKeys: [],
      userData: '',
      stopGraceSeconds: 30,
      wantedHostId: null,
      hostId,
      vmm: 'qemu',
      state: 'running',
      stateReason: '',
      power: 'on',
      generation: 1,
      taskId: null,
      observedState: 'running',
      observedAt: new Date(),
      startedAt: new Date(),
      createdBy: 'test',
      createdAt: new Date(),
      ...changes,
    };
    await instances.insert(db.database.op, row);
    return row;
  };
  const read = async (id: string): Promise<InstanceEntity> => steps.require(db.database.op, id);
  const report = (instance: InstanceEntity, changes: Partial<ObservedInstance>): ObservedInstance => ({ instanceId: instance.id, generation: 1, state: 'running', reason: '', vmm: 'qemu', startedAt: new Date().toISOString(), ...changes });

  it('leaves it to a delete that waits for the verb it preempted', async () => {
    const [stop, remove] = [randomUUID(), randomUUID()];
    const instance = await insert({ state: 'deleting', taskId: remove });
    await steps.settle(db.database.op, instance.id, stop, report(instance, { state: 'stopped', reason: 'operator' }));
    expect(await read(instance.id)).toMatchObject({ state: 'deleting', taskId: remove, observedState: 'stopped' });
    await steps.release(db.database.op, instance.id, stop, 'cancelled');
    expect(await read(instance.id)).toMatchObject({ state: 'deleting', taskId: remove, stateReason: '' });
    expect(published).toEqual([]);
  });

  it('says in words how a stop ended', async () => {
    const task = randomUUID();
    for (const [reason, words] of [
      ['guest', 'powered off by its guest'],
      ['operator', 'stopped on request'],
      ['forced', /^stopped by force/],
    ] as const) {
      const instance = await insert({ state: 'stopping', taskId: task });
      await steps.settle(db.database.op, instance.id, task, report(instance, { state: 'stopped', reason }));
      expect((await read(instance.id)).stateReason).toMatch(words);
    }
  });

  it('follows the host when no task works on it, and keeps the task in the event when one does', async () => {
    const free = await insert({});
    const held = await insert({ state: 'stopping', taskId: randomUUID() });
    const changes = await instances.observe(db.database.op, hostId, [report(free, { state: 'stopped', reason: 'guest', startedAt: null }), report(held, { state: 'stopped', reason: 'operator', startedAt: null })]);
    await events.observed(db.database.op, changes);
    expect(await read(free.id)).toMatchObject({ state: 'stopped', stateReason: 'powered off by its guest', power: 'off' });
    expect(await read(held.id)).toMatchObject({ state: 'stopping', observedState: 'stopped', power: 'on' });
    expect(published.find((e) => e.subject.id === held.id)?.data).toMatchObject({ state: 'stopping', taskId: held.taskId });
  });

  it('shows a silent host as the reason, and the old state and reason once the host is heard again', async () => {
    const silent = randomUUID();
    const instance = await insert({ hostId: silent, state: 'stopped', observedState: 'stopped', stateReason: 'powered off by its guest' });
    await events.observed(db.database.op, await instances.markUnknown(db.database.op, [silent]));
    expect(published.at(-1)?.data).toMatchObject({ state: 'unknown', stateReason: 'its host is silent' });
    await events.observed(db.database.op, await instances.markKnown(db.database.op, [silent]));
    expect(await read(instance.id)).toMatchObject({ state: 'stopped', stateReason: 'powered off by its guest' });
    expect(await instances.markKnown(db.database.op, [silent])).toEqual([]);
  });
});
