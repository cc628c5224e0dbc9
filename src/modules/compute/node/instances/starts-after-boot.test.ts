import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentsOfAHost } from './agents-of-a-host-suite';
import type { InstanceManager } from './instance.manager';
import { MapDriver } from './map-driver-suite';

describe('starts after a restart of the host', () => {
  const never = new AbortController().signal;
  let host: AgentsOfAHost;
  beforeEach(() => (host = new AgentsOfAHost()));
  afterEach(() => host.remove());

  const ask = (
    agent: InstanceManager,
    instanceId: string,
    power: 'on' | 'off',
    generation: number,
  ): Promise<unknown> => {
    const spec = { name: 'i', vcpus: 1, memoryBytes: 2 ** 28, disks: [], ports: [], vmm: null };
    return agent.ensure({ instanceId, generation, spec, power, graceSeconds: 1 }, never);
  };
  const states = (agent: InstanceManager): Record<string, string> =>
    Object.fromEntries(agent.list().map(({ instanceId, state }) => [instanceId, state]));
  /** Instances that run, or are off, and then their host loses its power: no machine is left. */
  const hostWith = async (on: number): Promise<{ ids: string[]; off: string }> => {
    const before = host.agent(new MapDriver());
    const ids = Array.from({ length: on }, () => randomUUID());
    const off = randomUUID();
    for (const id of [...ids, off]) await ask(before, id, 'on', 1);
    await ask(before, off, 'off', 2);
    await before.stop();
    ids.forEach((id, n) => {
      const file = join(host.store.directory(id), 'instance.json');
      const record = JSON.parse(readFileSync(file, 'utf8')) as object;
      const startedAt = new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString();
      writeFileSync(file, JSON.stringify({ ...record, bootId: 'another boot', startedAt }));
    });
    return { ids, off };
  };

  it('begin while the agent answers, in the order of before, a few at a time; what was off stays off', async () => {
    host.section = { startsAtOnce: 2 };
    const { ids, off } = await hostWith(5);
    const driver = new MapDriver();
    const gate = Promise.withResolvers<void>();
    driver.gate = gate.promise;
    const agent = host.agent(driver);
    await agent.start();
    // No start has ended yet, and the agent says what is so.
    expect(states(agent)).toEqual({ ...Object.fromEntries(ids.map((id) => [id, 'crashed'])), [off]: 'stopped' });
    expect(agent.list().find((i) => i.instanceId === ids[4])).toMatchObject({
      reason: 'its host restarted; it is started again in its turn',
      exit: { reason: 'host-restarted' },
    });
    while (driver.startsNow < 2) await new Promise((resolve) => setImmediate(resolve));
    gate.resolve();
    await host.afterBoot?.done();
    // Two of them are under way at a time, whichever comes first.
    expect([...driver.order.slice(0, 2)].sort()).toEqual(ids.slice(0, 2).sort());
    expect([...driver.order].sort()).toEqual([...ids].sort());
    expect(driver.startsAtMost).toBe(2);
    expect(states(agent)).toEqual({ ...Object.fromEntries(ids.map((id) => [id, 'running'])), [off]: 'stopped' });
    await agent.stop();
  });

  it('pass over what was stopped, started or removed meanwhile', async () => {
    host.section = { startsAtOnce: 1 };
    const { ids } = await hostWith(4);
    const [first = '', stopped = '', started = '', removed = ''] = ids;
    const driver = new MapDriver();
    const gate = Promise.withResolvers<void>();
    driver.gate = gate.promise;
    const agent = host.agent(driver);
    await agent.start();
    await ask(agent, stopped, 'off', 2);
    await agent.remove(removed, 2);
    const asked = ask(agent, started, 'on', 2);
    gate.resolve();
    await asked;
    await host.afterBoot?.done();
    expect([...driver.order].sort()).toEqual([first, started].sort());
    expect(states(agent)).toMatchObject({ [first]: 'running', [started]: 'running', [stopped]: 'stopped' });
    await agent.stop();
  });

  it('say which failed, try it no more, and go on with the others', async () => {
    host.section = { startsAtOnce: 1 };
    const { ids } = await hostWith(2);
    const driver = new MapDriver();
    driver.failStarts = 1;
    const agent = host.agent(driver);
    await agent.start();
    await host.afterBoot?.done();
    expect(agent.list().find((i) => i.instanceId === ids[0])).toMatchObject({
      state: 'crashed',
      reason: "it could not be started after the host's restart",
      exit: { reason: 'start-failed' },
    });
    expect(states(agent)).toMatchObject({ [ids[1] ?? '']: 'running' });
    await agent.stop();
    const next = host.agent(driver);
    await next.start();
    await host.afterBoot?.done();
    expect(driver.order).toHaveLength(2);
    await next.stop();
  });

  it('go on with the next agent when one is ended in the midst of them', async () => {
    host.section = { startsAtOnce: 1 };
    const { ids } = await hostWith(3);
    const driver = new MapDriver();
    const gate = Promise.withResolvers<void>();
    driver.gate = gate.promise;
    const agent = host.agent(driver);
    await agent.start();
    const stopped = agent.stop();
    gate.resolve();
    await stopped;
    expect(driver.order.length).toBeLessThanOrEqual(1);
    const next = host.agent(driver);
    await next.start();
    await host.afterBoot?.done();
    expect([...driver.order]).toEqual(ids);
    expect(states(next)).toMatchObject(Object.fromEntries(ids.map((id) => [id, 'running'])));
    await next.stop();
  });
});
