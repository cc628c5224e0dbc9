import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { LiveEvent, Outbox } from '../../../src/core/events/outbox';
import { Metrics } from '../../../src/core/telemetry/metrics';
import { DeclaredMetrics } from '../../../src/core/telemetry/declared-metrics';
import { computeMetrics } from '../../../src/modules/compute/contract/compute.metrics';
import type { Placement } from '../../../src/modules/scheduler/contract/scheduler.ports';
import { InstanceFigureRepository } from '../../../src/modules/compute/management/instances/instance-figure.repository';
import { InstanceFigures } from '../../../src/modules/compute/management/instances/instance-figures';
import { computeEntities } from '../../../src/modules/compute/management/compute.entities';
import { InstanceEvents } from '../../../src/modules/compute/management/instances/instance.events';
import type { InstanceEntity } from '../../../src/modules/compute/management/instances/instance.entity';
import { InstanceRepository } from '../../../src/modules/compute/management/instances/instance.repository';
import { InstanceSteps } from '../../../src/modules/compute/management/workflows/instance-steps';
import { observedInstance, type ObservedInstance } from '../../../src/modules/compute/contract/instance.verbs';
import type { InstancePorts } from '../../../src/modules/network/contract/network.ports';
import type { DataVolumes, Volumes } from '../../../src/modules/storage/contract/storage.ports';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';

describe('who decides the state of an instance', () => {
  let db: TestDatabase;
  const published: LiveEvent[] = [];
  const outbox: Outbox = { publish: async (_op, event) => void published.push(event) };
  const instances = new InstanceRepository({} as InstancePorts);
  const events = new InstanceEvents(outbox);
  // The states are asked for here; ports and volumes are not.
  const steps = new InstanceSteps(
    instances,
    {} as InstancePorts,
    {} as Volumes,
    {} as DataVolumes,
    events,
    {} as Placement,
  );
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
      limits: { disk: null, nic: null },
      hardware: {},
      dedicatedCpus: null,
      shares: [],
      vcpus: 1,
      memoryBytes: 2 ** 28,
      diskBytes: 2 ** 25,
      imageId: randomUUID(),
      imageName: 'linux',
      architecture: 'x86_64',
      firmware: 'any',
      kernel: null,
      nics: [],
      sshKeys: [],
      userData: '',
      vendorData: '',
      configDrive: null,
      machine: {},
      maxVcpus: null,
      maxMemoryBytes: null,
      stopGraceSeconds: 30,
      wantedHostId: null,
      hostId,
      vmm: 'qemu',
      wantedVmm: null,
      tags: [],
      metadata: {},
      protected: false,
      lock: null,
      state: 'running',
      stateReason: '',
      power: 'on',
      generation: 1,
      taskId: null,
      observedState: 'running',
      observedAt: new Date(),
      observedRevision: 5,
      startedAt: new Date(),
      lastExit: null,
      restartPolicy: 'never',
      guest: null,
      rescue: null,
      createdBy: 'test',
      createdAt: new Date(),
      ...changes,
    };
    await instances.insert(db.database.op, row);
    return row;
  };

  it('are counted now and then, and not by whoever reads the metrics', async () => {
    const metrics = new Metrics();
    const figures = new InstanceFigures(
      db.database,
      new InstanceFigureRepository(),
      new DeclaredMetrics(metrics, computeMetrics),
    );
    await figures.start();
    const counted = async (): Promise<void> => {
      for (const work of figures.periodicWork()) await work.run(new AbortController().signal);
    };
    const told = async (): Promise<Record<string, string>> =>
      Object.fromEntries(
        [...(await metrics.registry.metrics()).matchAll(/^vcstack_(instances\S*) (\S+)$/gm)].map(([, name, value]) => [
          name ?? '',
          value ?? '',
        ]),
      );
    expect(await told()).toEqual({ instances_counted_timestamp_seconds: '0' });
    await db.database.query('DELETE FROM instance');
    await counted();
    expect(await told()).toMatchObject({ 'instances{state="running"}': '0' });
    for (const state of ['running', 'running', 'error'] as const) await insert({ state });
    const { instances_counted_timestamp_seconds: at, ...before } = await told();
    expect(before).toEqual({ 'instances{state="running"}': '0' });
    await counted();
    const { instances_counted_timestamp_seconds: then, ...after } = await told();
    expect(after).toEqual({ 'instances{state="error"}': '1', 'instances{state="running"}': '2' });
    expect(Number(then)).toBeGreaterThan(Number(at));
    await db.database.query(`DELETE FROM instance WHERE state = 'error'`);
    await counted();
    expect(await told()).toMatchObject({ 'instances{state="error"}': '0', 'instances{state="running"}': '2' });
  });

  const read = async (id: string): Promise<InstanceEntity> => steps.require(db.database.op, id);
  const report = (instance: InstanceEntity, changes: Partial<ObservedInstance>): ObservedInstance => ({
    instanceId: instance.id,
    generation: 1,
    state: 'running',
    reason: '',
    vmm: 'qemu',
    startedAt: new Date().toISOString(),
    revision: 6,
    exit: null,
    guest: null,
    dedicatedCpus: null,
    ...changes,
  });
  const settle = (instance: InstanceEntity, task: string, observed: ObservedInstance): Promise<void> =>
    db.database.tx((op) => steps.settle(op, instance.id, task, observed));

  it('leaves it to a delete that waits for the verb it preempted', async () => {
    const [stop, remove] = [randomUUID(), randomUUID()];
    const instance = await insert({ state: 'deleting', taskId: remove });
    await settle(instance, stop, report(instance, { state: 'stopped', reason: 'operator' }));
    expect(await read(instance.id)).toMatchObject({ state: 'deleting', taskId: remove, observedState: 'stopped' });
    await steps.release(db.database.op, instance.id, stop, 'cancelled');
    expect(await read(instance.id)).toMatchObject({ state: 'deleting', taskId: remove, stateReason: '' });
    expect(published).toEqual([]);
  });

  it('leaves it to a delete that commits while the verb settles', async () => {
    const [stop, remove] = [randomUUID(), randomUUID()];
    const end = {
      settle: (i: InstanceEntity) => settle(i, stop, report(i, {})),
      release: (i: InstanceEntity) => db.database.tx((op) => steps.release(op, i.id, stop, 'cancelled')),
    };
    for (const ending of Object.values(end)) {
      const instance = await insert({ state: 'stopping', taskId: stop });
      let ended: Promise<void> = Promise.resolve();
      await db.database.tx(async (op) => {
        await instances.update(op, instance.id, { state: 'deleting', taskId: remove });
        ended = ending(instance);
        const waits = (): Promise<object[]> =>
          db.database.query(
            `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          );
        for (let i = 0; i < 500 && (await waits()).length === 0; i += 1)
          await new Promise((resolve) => setTimeout(resolve, 10));
      });
      await ended;
      expect(await read(instance.id)).toMatchObject({ state: 'deleting', taskId: remove });
    }
  });

  it('says in words how a stop ended', async () => {
    const task = randomUUID();
    for (const [reason, words] of [
      ['guest', 'powered off by its guest'],
      ['operator', 'stopped on request'],
      ['forced', /^stopped by force/],
    ] as const) {
      const instance = await insert({ state: 'stopping', taskId: task });
      await settle(instance, task, report(instance, { state: 'stopped', reason }));
      expect((await read(instance.id)).stateReason).toMatch(words);
    }
  });

  it('follows the host when no task works on it, and keeps the task in the event when one does', async () => {
    const free = await insert({});
    const held = await insert({ state: 'stopping', taskId: randomUUID() });
    const changes = await instances.observe(db.database.op, hostId, [
      report(free, { state: 'stopped', reason: 'guest', startedAt: null }),
      report(held, { state: 'stopped', reason: 'operator', startedAt: null }),
    ]);
    await events.observed(db.database.op, changes);
    expect(await read(free.id)).toMatchObject({
      state: 'stopped',
      stateReason: 'powered off by its guest',
      power: 'off',
    });
    expect(await read(held.id)).toMatchObject({ state: 'stopping', observedState: 'stopped', power: 'on' });
    expect(published.find((e) => e.subject.id === held.id)?.data).toMatchObject({
      state: 'stopping',
      taskId: held.taskId,
    });
  });

  it('keeps how its machine ended and tells it once, by whichever way it came first', async () => {
    const exit = { reason: 'oom-killed', code: null, signal: 'SIGKILL', at: new Date().toISOString() };
    const ends = (): unknown[] => published.filter((e) => e.type === 'instance.ended').map((e) => e.data);
    const observe = (changes: Partial<ObservedInstance>, of: InstanceEntity): Promise<void> =>
      db.database.tx(async (op) => events.observed(op, await instances.observe(op, hostId, [report(of, changes)])));
    const crashed = await insert({});
    const down = { state: 'crashed', reason: 'memory ran out', startedAt: null, exit } as const;
    await observe(down, crashed);
    await observe({ ...down, revision: 7 }, crashed);
    expect(await read(crashed.id)).toMatchObject({ state: 'error', stateReason: 'memory ran out', lastExit: exit });
    expect(ends()).toEqual([expect.objectContaining({ id: crashed.id, state: 'error', exit })]);
    // It runs again, on an agent that does not know of exits.
    await observe({ revision: 8 }, crashed);
    expect(await read(crashed.id)).toMatchObject({ state: 'running', lastExit: exit });
    expect(ends()).toHaveLength(1);

    const task = randomUUID();
    const stopped = await insert({ state: 'stopping', taskId: task });
    const forced = { ...exit, reason: 'forced', signal: null };
    const answer = { state: 'stopped', reason: 'forced', startedAt: null, exit: forced } as const;
    await settle(stopped, task, report(stopped, answer));
    await observe(answer, stopped);
    expect(await read(stopped.id)).toMatchObject({ state: 'stopped', lastExit: forced });
    expect(ends().slice(1)).toEqual([expect.objectContaining({ id: stopped.id, state: 'stopped', exit: forced })]);
    // While a task holds it too, and when the machine ended and was started between two reports.
    const held = await insert({ state: 'rebooting', taskId: task });
    await observe({ exit: forced }, held);
    expect(await read(held.id)).toMatchObject({ state: 'rebooting', lastExit: forced });
    expect(ends()).toHaveLength(3);
  });

  it('says what a guest does without its machine having ended, once for each', async () => {
    const instance = await insert({});
    const types = (): string[] => published.map((e) => e.type).filter((type) => type !== 'instance.updated');
    const observe = (guest: ObservedInstance['guest'], revision: number): Promise<void> =>
      db.database.tx(async (op) =>
        events.observed(op, await instances.observe(op, hostId, [report(instance, { guest, revision })])),
      );
    const none = { panickedAt: null, watchdogAt: null, resetAt: null, looping: false, lost: [] };
    const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
    await observe(none, 7);
    await observe({ ...none, panickedAt: at(1) }, 8);
    await observe({ ...none, panickedAt: at(1) }, 9);
    const panicked = await read(instance.id);
    expect(panicked).toMatchObject({ state: 'running', stateReason: 'its guest panicked' });
    expect(types()).toEqual(['instance.panicked']);
    await observe({ ...none, panickedAt: at(1), resetAt: at(2) }, 10);
    expect(await read(instance.id)).toMatchObject({ state: 'running', stateReason: '' });
    await observe({ ...none, panickedAt: at(1), resetAt: at(3), looping: true }, 11);
    expect(await read(instance.id)).toMatchObject({
      state: 'running',
      stateReason: 'its guest restarts itself again and again',
    });
    await observe({ ...none, panickedAt: at(1), resetAt: at(3) }, 12);
    expect(types()).toEqual(['instance.panicked', 'instance.reset', 'instance.reset', 'instance.looping']);
    await observe({ ...none, panickedAt: at(1), watchdogAt: at(4), resetAt: at(3) }, 13);
    const fired = await read(instance.id);
    expect(fired).toMatchObject({ stateReason: 'its watchdog fired', guest: { watchdogAt: at(4) } });
    await observe({ ...none, panickedAt: at(1), watchdogAt: at(4), resetAt: at(5) }, 14);
    expect(await read(instance.id)).toMatchObject({ stateReason: '' });
    expect(types().slice(4)).toEqual(['instance.watchdog-fired', 'instance.reset']);
    await observe({ ...none, resetAt: at(5), lost: ['share "media"'] }, 15);
    expect(await read(instance.id)).toMatchObject({
      state: 'running',
      stateReason: 'without its share "media", which failed, until it is stopped and started',
    });
    await observe({ ...none, resetAt: at(5) }, 16);
    expect(types().slice(6)).toEqual(['instance.companion-lost']);
    // An agent of before tells nothing of guests.
    await observe(null, 17);
    expect(await read(instance.id)).toMatchObject({ guest: { resetAt: at(5) }, stateReason: '' });
  });

  it('does not go back to what a late heartbeat says, and keeps what a heartbeat knew before the answer', async () => {
    const task = randomUUID();
    const started = await insert({ state: 'building', taskId: task, observedState: null, observedRevision: 0 });
    await settle(started, task, report(started, { revision: 3 }));
    expect(
      await instances.observe(db.database.op, hostId, [
        report(started, { state: 'stopped', startedAt: null, revision: 1 }),
      ]),
    ).toEqual([]);
    expect(await read(started.id)).toMatchObject({ state: 'running', observedState: 'running' });

    const crashed = await insert({ state: 'starting', taskId: task });
    await instances.observe(db.database.op, hostId, [
      report(crashed, { state: 'crashed', reason: 'gone', startedAt: null, revision: 8 }),
    ]);
    await settle(crashed, task, report(crashed, { revision: 7 }));
    expect(await read(crashed.id)).toMatchObject({
      state: 'error',
      stateReason: 'it crashed right after',
      observedState: 'crashed',
      taskId: null,
    });
  });

  it('follows the host after a verb that never came to it', async () => {
    const task = randomUUID();
    const instance = await insert({ state: 'stopping', taskId: task, generation: 2 });
    await steps.release(db.database.op, instance.id, task, 'cancelled');
    await instances.observe(db.database.op, hostId, [
      report(instance, { state: 'stopped', reason: 'guest', startedAt: null, generation: 1 }),
    ]);
    expect(await read(instance.id)).toMatchObject({ state: 'stopped', power: 'off' });
  });

  it('is off after a failed start, and as before after a failed reboot, whatever was reported in between', async () => {
    const task = randomUUID();
    const start = await insert({ state: 'starting', taskId: task, power: 'off', observedState: 'running' });
    await steps.release(db.database.op, start.id, task, 'failed', true);
    expect(await read(start.id)).toMatchObject({ state: 'stopped', power: 'off', taskId: null, stateReason: 'failed' });
    const reboot = await insert({ state: 'rebooting', taskId: task, observedState: 'stopped' });
    await steps.release(db.database.op, reboot.id, task, 'failed');
    expect(await read(reboot.id)).toMatchObject({ state: 'stopped', power: 'on' });
  });

  it('keeps one that is paused so over a silent host, a verb that failed, and reports', async () => {
    const silent = randomUUID();
    const instance = await insert({ hostId: silent, state: 'paused', observedState: 'paused' });
    await instances.markUnknown(db.database.op, [silent]);
    expect(await read(instance.id)).toMatchObject({ state: 'unknown' });
    await instances.markKnown(db.database.op, [silent]);
    expect(await read(instance.id)).toMatchObject({ state: 'paused' });
    const task = randomUUID();
    const resumed = await insert({ state: 'resuming', taskId: task, power: 'on', observedState: 'paused' });
    await steps.release(db.database.op, resumed.id, task, 'failed');
    expect(await read(resumed.id)).toMatchObject({ state: 'paused', power: 'on', stateReason: 'failed' });
    await instances.observe(db.database.op, hostId, [report(resumed, { state: 'running', revision: 9 })]);
    expect(await read(resumed.id)).toMatchObject({ state: 'running', stateReason: '' });
    await instances.observe(db.database.op, hostId, [report(resumed, { state: 'paused', revision: 10 })]);
    expect(await read(resumed.id)).toMatchObject({ state: 'paused', power: 'on' });
  });

  it('calls one in rescue that runs rescued, whoever says that it runs, and one that is off stopped', async () => {
    const [silent, task] = [randomUUID(), randomUUID()];
    const rescue = { imageId: randomUUID(), imageName: 'tools', firmware: 'any' as const };
    const settled = await insert({ state: 'rescuing', taskId: task, observedState: 'stopped', rescue });
    await settle(settled, task, report(settled, {}));
    expect(await read(settled.id)).toMatchObject({ state: 'rescued', taskId: null, observedState: 'running' });
    const off = { state: 'stopped', reason: 'guest', startedAt: null } as const;
    await instances.observe(db.database.op, hostId, [report(settled, { ...off, revision: 7 })]);
    expect(await read(settled.id)).toMatchObject({ state: 'stopped', rescue });
    await instances.observe(db.database.op, hostId, [report(settled, { revision: 8 })]);
    expect(await read(settled.id)).toMatchObject({ state: 'rescued', rescue });
    // The same report again changes nothing.
    expect(await instances.observe(db.database.op, hostId, [report(settled, { revision: 8 })])).toEqual([]);
    const kept = await insert({ state: 'unrescuing', taskId: task, power: 'off', rescue });
    await steps.release(db.database.op, kept.id, task, 'failed');
    expect(await read(kept.id)).toMatchObject({ state: 'rescued', power: 'on', stateReason: 'failed' });
    const unseen = await insert({ hostId: silent, state: 'rescued', rescue });
    await instances.markUnknown(db.database.op, [silent]);
    expect(await read(unseen.id)).toMatchObject({ state: 'unknown' });
    await instances.markKnown(db.database.op, [silent]);
    expect(await read(unseen.id)).toMatchObject({ state: 'rescued' });
  });

  it('shows a silent host as the reason, and the old state and reason once the host is heard again', async () => {
    const silent = randomUUID();
    const instance = await insert({
      hostId: silent,
      state: 'stopped',
      observedState: 'stopped',
      stateReason: 'powered off by its guest',
    });
    await events.observed(db.database.op, await instances.markUnknown(db.database.op, [silent]));
    expect(published.at(-1)?.data).toMatchObject({ state: 'unknown', stateReason: 'its host is silent' });
    await events.observed(db.database.op, await instances.markKnown(db.database.op, [silent]));
    expect(await read(instance.id)).toMatchObject({ state: 'stopped', stateReason: 'powered off by its guest' });
    expect(await instances.markKnown(db.database.op, [silent])).toEqual([]);
  });

  it('is unknown, with the reason, while the host cannot tell, and then what it tells', async () => {
    const instance = await insert({});
    const say = (changes: object): Promise<unknown> =>
      db.database.tx(async (op) =>
        events.observed(
          op,
          await instances.observe(
            op,
            hostId,
            z.array(observedInstance).parse([report(instance, changes as Partial<ObservedInstance>)]),
          ),
        ),
      );
    await say({
      state: 'unknown',
      reason: 'its host cannot read its record of it',
      revision: 0,
      vmm: '',
      startedAt: null,
    });
    expect(await read(instance.id)).toMatchObject({ state: 'unknown', vmm: 'qemu', observedRevision: 5 });
    expect(published.at(-1)?.data).toMatchObject({
      state: 'unknown',
      stateReason: 'its host cannot read its record of it',
    });
    // Off, a host knows of no VMM: the last one is on record still.
    await say({ state: 'stopped', reason: 'guest', revision: 5, vmm: '' });
    expect(await read(instance.id)).toMatchObject({ state: 'stopped', vmm: 'qemu' });
    await say({ state: 'running', revision: 5 });
    expect(await read(instance.id)).toMatchObject({ state: 'running', stateReason: '' });
    // A word of a newer agent.
    await say({ state: 'hibernated', reason: 'asleep', revision: 6 });
    expect(await read(instance.id)).toMatchObject({ state: 'unknown', stateReason: 'asleep' });
  });
});
