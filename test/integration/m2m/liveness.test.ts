import { z } from 'zod';
import { Config } from '../../../src/core/config/config';
import type { Op } from '../../../src/core/db/rows/op';
import { HeartbeatService } from '../../../src/core/m2m/node/heartbeat.service';
import { HttpsManagementClient } from '../../../src/core/m2m/node/https-management-client';
import { ObservedSink, ObservedSource } from '../../../src/core/m2m/reports/observed';
import type { HostDetail } from '../../../src/modules/host/contract/host.api';
import { Hosts, InventorySource } from '../../../src/modules/host/contract/host.ports';
import { HostService } from '../../../src/modules/host/management/hosts/host.service';
import { HangingProxy } from './hanging-proxy';
import { Management } from './harness';
import { Agent, type AgentParts } from './agent-harness';
import { eventually, FixedInventory, goodInventory } from './harness-parts';

jest.setTimeout(60_000);

class ThingSink extends ObservedSink<{ value: number }> {
  readonly section = 'things';
  readonly schema = z.object({ value: z.number() });
  readonly taken: { hostId: string; value: number }[] = [];
  broken = false;

  async accept(op: Op, hostId: string, data: { value: number }): Promise<void> {
    if (this.broken) await op.query('SELECT 1/0');
    this.taken.push({ hostId, value: data.value });
  }
}

class ThingSource extends ObservedSource {
  readonly section = 'things';
  value: unknown = 1;
  async collect(): Promise<unknown> {
    return { value: this.value };
  }
}

let management: Management;
const sink = new ThingSink();
const running: Agent[] = [];
const start = async (parts: AgentParts): Promise<Agent> => {
  const agent = await Agent.start({ token: await management.token(), ...parts });
  running.push(agent);
  return agent;
};
const host = (ref: string): Promise<HostDetail> =>
  management.container.get(HostService).get(management.database.op, ref);
const inState = (ref: string, state: string): Promise<HostDetail> =>
  eventually(`${ref} ${state}`, async () => host(ref).then((h) => h.state === state && h), 15_000);
const condition = (h: HostDetail, type: string) => h.conditions.find((c) => c.type === type);

beforeAll(async () => {
  management = await Management.start({ host: { silentAfterMs: 1_500, sweepMs: 100 } }, { sinks: [sink] });
});
afterAll(async () => {
  await Promise.all(running.map((agent) => agent.destroy()));
  await management.stop();
});

describe('liveness', () => {
  it('turns a silent host unknown, not down, and ready again with its next heartbeat', async () => {
    const agent = await Agent.start({ name: 'silent', token: await management.token() });
    await inState('silent', 'ready');
    await agent.stop();
    const silent = await inState('silent', 'unknown');
    expect(silent.schedulable).toBe(false);
    expect(condition(silent, 'Heartbeat')).toMatchObject({ status: 'unknown', reason: 'Silent' });
    expect(condition(silent, 'Vmm')?.status).toBe('true');
    const seen = (await management.container.get(Hosts).all(management.database.op)).find((h) => h.name === 'silent');
    expect(seen).toMatchObject({ state: 'unknown', schedulable: false });
    expect(seen?.reason).toContain('not heard of');
    await start({ name: 'silent', state: agent.dir, token: '' });
    const back = await inState('silent', 'ready');
    expect(back.schedulable).toBe(true);
    const states = management.outbox.events
      .filter((e) => e.subject.id === agent.hostId && e.type === 'host.updated')
      .map((e) => e.data['state']);
    expect(states.slice(-2)).toEqual(['unknown', 'ready']);
  });

  it('goes to another address when management hangs: takes what is sent and does not answer', async () => {
    const hanging = await HangingProxy.start(management.port);
    try {
      await start({ name: 'patient', management: [`127.0.0.1:${hanging.port}`, `127.0.0.1:${management.port}`] });
      await inState('patient', 'ready');
      expect(hanging.used).toBe(true);
      const [{ seq } = { seq: 0 }] = await management.database.query<{ seq: number }>(
        `SELECT agent_seq AS seq FROM host WHERE name = 'patient'`,
      );
      hanging.hang();
      await eventually(
        'heartbeats again',
        async () =>
          (
            await management.database.query(
              `SELECT 1 FROM host WHERE name = 'patient' AND agent_seq > $1::bigint + 3`,
              [seq],
            )
          ).length > 0,
      );
    } finally {
      await hanging.close();
    }
  });

  it('publishes nothing while nothing changes', async () => {
    const agent = await start({ name: 'steady' });
    await inState('steady', 'ready');
    const client = agent.container.get(HttpsManagementClient);
    const published = management.outbox.events.length;
    const before = (await host('steady')).lastSeenAt;
    await eventually(
      'three more heartbeats',
      async () =>
        (await management.database.query(`SELECT 1 FROM host WHERE name = 'steady' AND agent_seq > 8`)).length > 0,
    );
    expect((await host('steady')).lastSeenAt).not.toBe(before);
    expect(management.outbox.events.slice(published).filter((e) => e.subject.id === agent.hostId)).toEqual([]);
    await expect(client.post('/heartbeat', { nonsense: true })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
  });

  it('warns of a clock that is off, and does nothing else', async () => {
    const agent = await start({ name: 'clock' });
    await inState('clock', 'ready');
    await agent.container.get(HeartbeatService).stop();
    const client = agent.container.get(HttpsManagementClient);
    let seq = 0;
    const beat = (skewMs: number) =>
      client.post('/heartbeat', {
        hostId: agent.hostId,
        boot: '00000000-0000-4000-8000-000000000009',
        seq: (seq += 1),
        time: Date.now() + skewMs,
        endpoint: { address: '127.0.0.1', port: agent.agent.boundPort },
        agentVersion: 't',
        sections: {},
      });
    for (const [skew, word] of [
      [-600_000, 'behind'],
      [600_000, 'ahead'],
    ] as const) {
      await beat(skew);
      const skewed = await host('clock');
      expect(skewed.state).toBe('ready');
      expect(condition(skewed, 'Clock')).toMatchObject({ status: 'false', reason: 'Skewed' });
      expect(condition(skewed, 'Clock')?.message).toContain(word);
      await beat(0);
      expect(condition(await host('clock'), 'Clock')?.status).toBe('true');
    }
  });

  it('ignores a heartbeat that a newer one has overtaken', async () => {
    const agent = await start({ name: 'late', observed: [new ThingSource()] });
    await inState('late', 'ready');
    await agent.container.get(HeartbeatService).stop();
    const client = agent.container.get(HttpsManagementClient);
    const beat = (seq: number, value: number) =>
      client.post('/heartbeat', {
        hostId: agent.hostId,
        boot: '00000000-0000-4000-8000-000000000007',
        seq,
        time: Date.now(),
        endpoint: { address: '127.0.0.1', port: 1 },
        agentVersion: 't',
        sections: { things: { value } },
      });
    await beat(2, 22);
    await beat(1, 11);
    expect(sink.taken.filter((t) => t.hostId === agent.hostId).map((t) => t.value)).toEqual([1, 22]);
  });
});

describe('observed state', () => {
  it('is sent when it changed, at once when told so, and not again otherwise', async () => {
    const source = new ThingSource();
    const agent = await start({ name: 'watched', observed: [source], tuning: { m2m: { heartbeatMs: 60_000 } } });
    const values = () => sink.taken.filter((t) => t.hostId === agent.hostId).map((t) => t.value);
    await eventually('first', () => values().length === 1);
    source.value = 2;
    const reporter = agent.container.get(HeartbeatService);
    for (let i = 0; i < 20; i += 1) reporter.changed('things');
    await eventually('second', () => values().length === 2);
    reporter.changed('things');
    source.value = 3;
    reporter.changed('things');
    await eventually('third', () => values().includes(3));
    expect(values()).toEqual([1, 2, 3]);
  });

  it('does not cost the sign of life when a section is bad or its sink fails, and is sent again after a failure', async () => {
    const source = new ThingSource();
    source.value = 'no number';
    const agent = await start({ name: 'bad-section', observed: [source] });
    await inState('bad-section', 'ready');
    expect(sink.taken.filter((t) => t.hostId === agent.hostId)).toEqual([]);
    sink.broken = true;
    source.value = 5;
    await agent.container.get(HttpsManagementClient).post('/events', { events: [] });
    await eventually(
      'more beats',
      async () =>
        (await management.database.query(`SELECT 1 FROM host WHERE name = 'bad-section' AND agent_seq > 5`)).length > 0,
    );
    sink.broken = false;
    await eventually('taken after all', () => sink.taken.some((t) => t.hostId === agent.hostId && t.value === 5));
  });

  it('goes on while management is away and sends everything once it is back', async () => {
    const away = await Management.start({}, { sinks: [sink] });
    const source = new ThingSource();
    source.value = 100;
    const agent = await Agent.start({ name: 'patient', token: await away.token(), observed: [source] });
    running.push(agent);
    const values = () => sink.taken.filter((t) => t.hostId === agent.hostId).map((t) => t.value);
    await eventually('first', () => values().length === 1);
    const port = away.port;
    await away.gateway.stop();
    source.value = 101;
    agent.container.get(HeartbeatService).changed('things');
    source.value = 102;
    // The same database and port, as after a restart.
    Object.assign(away.container.get(Config).core.management, { nodePort: port });
    await away.gateway.start();
    await eventually('all of it', () => values().at(-1) === 102);
    await away.stop();
  });
});

describe('fitness', () => {
  const vmm = (usable: boolean, reason = '') =>
    new FixedInventory('vmms', [{ kind: 'qemu', version: '9', accel: 'tcg', usable, reason, capabilities: [] }]);
  const pools = () => goodInventory()[1] as InventorySource;

  it('is testing until the VMMs are probed, then ready', async () => {
    let finish = (): void => undefined;
    const probed = new Promise<void>((resolve) => (finish = resolve));
    class SlowProbe extends InventorySource {
      readonly part = 'vmms';
      async collect(): Promise<unknown> {
        await probed;
        return [{ kind: 'qemu', version: '9', accel: 'tcg', usable: true, reason: '', capabilities: ['x'] }];
      }
    }
    await start({ name: 'probing', inventory: [new SlowProbe(), pools()] });
    expect((await inState('probing', 'testing')).schedulable).toBe(false);
    finish();
    await inState('probing', 'ready');
  });

  it('is degraded with the reason when no VMM works or there is no pool', async () => {
    await start({ name: 'no-vmm', inventory: [vmm(false, 'the guest did not boot'), pools()] });
    const broken = await inState('no-vmm', 'degraded');
    expect(condition(broken, 'Vmm')).toMatchObject({ status: 'false', reason: 'NoUsableVmm' });
    expect(condition(broken, 'Vmm')?.message).toContain('the guest did not boot');
    await start({ name: 'no-pool', inventory: [vmm(true)] });
    expect(condition(await inState('no-pool', 'degraded'), 'Storage')).toMatchObject({
      status: 'false',
      reason: 'NoPool',
    });
  });
});

describe('operators', () => {
  const service = () => management.container.get(HostService);

  it('put a host into maintenance and take it out', async () => {
    await start({ name: 'maintained' });
    await inState('maintained', 'ready');
    const into = await management.database.tx((op) =>
      service().update(op, 'maintained', { maintenance: true, reason: 'new disks' }),
    );
    expect(into).toMatchObject({ state: 'maintenance', schedulable: false });
    expect(condition(into, 'Maintenance')).toMatchObject({ status: 'true', message: 'new disks' });
    const out = await management.database.tx((op) => service().update(op, 'maintained', { maintenance: false }));
    expect(out).toMatchObject({ state: 'ready', schedulable: true });
    await expect(
      management.database.tx((op) => service().update(op, 'nobody', { maintenance: true })),
    ).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });

  it('list hosts in pages', async () => {
    const all: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await service().list(management.database.op, { limit: 2, cursor });
      all.push(...page.items.map((h) => h.name));
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    const expected = (await management.database.query<{ name: string }>('SELECT name FROM host ORDER BY name')).map(
      (r) => r.name,
    );
    expect(all).toEqual(expected);
    expect(
      (await service().list(management.database.op, { limit: 50, state: 'degraded' })).items.every(
        (h) => h.state === 'degraded',
      ),
    ).toBe(true);
    await expect(service().list(management.database.op, { limit: 2, cursor: 'x' })).rejects.toMatchObject({
      status: 400,
    });
  });
});
