import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import * as nodeFile from 'node:path';
import { z } from 'zod';
import { encodeRecord } from '../../../src/core/host/journal/journal-lines';
import { NodeRegistry } from '../../../src/core/m2m/management/node-registry';
import { NodeVerbError } from '../../../src/core/m2m/management/node-caller';
import { HttpsManagementClient } from '../../../src/core/m2m/node/https-management-client';
import { NotUnderstood } from '../../../src/core/m2m/verbs/not-understood';
import { ObservedSink, ObservedSource } from '../../../src/core/m2m/reports/observed';
import { defineVerb } from '../../../src/core/m2m/verbs/verb';
import { handle, type VerbHandler, VerbHandlers } from '../../../src/core/m2m/verbs/verb-handler';
import { HostRegistry } from '../../../src/modules/host/management/hosts/host-registry.service';
import { HostRepository } from '../../../src/modules/host/management/hosts/host.repository';
import { Management } from './harness';
import { Agent, type AgentParts } from './agent-harness';
import { eventually } from './harness-parts';

const args = z.object({ by: z.number(), twice: z.boolean().optional() });
const result = z.object({ total: z.number() });
const first = defineVerb('test.add', { args: args.omit({ twice: true }), result });
const second = defineVerb('test.add', {
  args,
  result,
  revision: 2,
  older: {
    2: ({ twice, ...rest }) => {
      if (twice === true) throw new NotUnderstood('counting twice');
      return rest;
    },
  },
});
const unheardOf = defineVerb('test.new', { args: z.object({}), result: z.object({}) });

class Adder extends VerbHandlers {
  readonly seen: unknown[] = [];
  constructor(private readonly verb: typeof second) {
    super();
  }
  handlers(): VerbHandler[] {
    return [
      handle(this.verb, async (given) => {
        this.seen.push(given);
        return { total: this.seen.length, more: 'than before' };
      }),
    ];
  }
}

class Parts extends ObservedSource {
  readonly section = 'parts';
  constructor(override readonly revision: number) {
    super();
  }
  override collect(): Promise<unknown> {
    // In the first revision they were words.
    return Promise.resolve(this.revision === 1 ? ['door'] : [{ name: `door of ${this.revision}` }]);
  }
}

/** Reads the second revision, and the first by the way of before. */
class PartsSink extends ObservedSink<{ name: string }[]> {
  readonly section = 'parts';
  readonly schema = z.array(z.object({ name: z.string() }));
  override readonly revision = 2;
  override readonly older = { 1: (words: unknown) => (words as string[]).map((name) => ({ name })) };
  readonly taken = new Map<string, string[]>();

  override async accept(_op: unknown, hostId: string, parts: { name: string }[]): Promise<void> {
    this.taken.set(
      hostId,
      parts.map(({ name }) => name),
    );
  }
}

jest.setTimeout(60_000);

describe('management and agents of other releases', () => {
  let management: Management;
  const sink = new PartsSink();
  const running: Agent[] = [];
  const join = async (
    verb: typeof second,
    parts: Partial<AgentParts> = {},
  ): Promise<{ agent: Agent; verbs: Adder }> => {
    const verbs = new Adder(verb);
    const agent = await Agent.start({ token: await management.token(), verbs: [verbs], ...parts });
    running.push(agent);
    return { agent, verbs };
  };
  const known = (hostId: string, revision: number): Promise<unknown> =>
    eventually('the host told its revisions', async () => {
      const found = await management.container.get(HostRepository).abilities(management.database.op, hostId);
      return found?.revisions?.verbs[second.name] === revision && found;
    });
  const add = (hostId: string, given: z.infer<typeof args>, key = `${randomUUID()}/add/run`): Promise<unknown> =>
    management.caller.call(hostId, second, given, { key, fence: 1 });

  beforeAll(async () => {
    management = await Management.start({}, { sinks: [sink] });
  });
  afterAll(async () => {
    await Promise.all(running.map((agent) => agent.destroy()));
    await management.stop();
  });

  it('know from each other what they understand, and keep it', async () => {
    const { agent } = await join(second, { observed: [new Parts(3)] });
    await known(agent.hostId, 2);
    expect(await management.container.get(NodeRegistry).abilities(agent.hostId, true)).toMatchObject({
      name: agent.name,
      release: '0.1.0',
      revisions: { release: '0.1.0', verbs: { 'test.add': 2 }, sections: { parts: 3, revisions: 1, inventory: 1 } },
    });
    const conditions = await management.container
      .get(HostRepository)
      .conditions(management.database.op, [agent.hostId]);
    expect(conditions.find((c) => c.type === 'Agent')).toMatchObject({ status: 'true', reason: 'SameRelease' });
  });

  it('say to an older agent what it understands', async () => {
    const { agent, verbs } = await join(first);
    await known(agent.hostId, 1);
    expect(await add(agent.hostId, { by: 1, twice: false })).toEqual({ done: true, result: { total: 1 } });
    expect(verbs.seen).toEqual([{ by: 1 }]);
  });

  it('refuse by name what an older agent cannot do, before it is asked', async () => {
    const { agent, verbs } = await join(first);
    await known(agent.hostId, 1);
    const refusal = await add(agent.hostId, { by: 1, twice: true }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(NodeVerbError);
    expect(refusal).toMatchObject({
      code: 'host_outdated',
      permanent: true,
      extra: { verb: 'test.add', known: 1, needed: 2 },
    });
    const { message, detail } = refusal as NodeVerbError;
    expect(message).toMatch(/does not understand counting twice.*upgrade the host/);
    expect(message).not.toContain(agent.name);
    expect(detail).toMatch(new RegExp(`^${agent.name} .*counting twice.*"test.add".*upgrade the host`));
    expect(verbs.seen).toEqual([]);
    await expect(
      management.caller.call(agent.hostId, unheardOf, {}, { key: `${randomUUID()}/x/run`, fence: 1 }),
    ).rejects.toMatchObject({ code: 'host_outdated', permanent: true, detail: expect.stringContaining('"test.new"') });
  });

  it('notice that an agent was upgraded, and that it was stepped back', async () => {
    const old = await join(first);
    const { hostId, dir } = old.agent;
    await known(hostId, 1);
    await expect(add(hostId, { by: 1, twice: true })).rejects.toMatchObject({ code: 'host_outdated' });
    const come = async (verb: typeof second): Promise<{ agent: Agent; verbs: Adder }> => {
      await running.pop()?.stop();
      return join(verb, { state: dir, token: '' });
    };
    const upgraded = await come(second);
    await known(hostId, 2);
    expect(await add(hostId, { by: 1, twice: true })).toMatchObject({ done: true });
    expect(upgraded.verbs.seen).toEqual([{ by: 1, twice: true }]);
    // What management remembers is from before the step back.
    const back = await come(first);
    await known(hostId, 1);
    const key = `${randomUUID()}/add/run`;
    await expect(add(hostId, { by: 1, twice: false }, key)).rejects.toMatchObject({
      code: 'newer_revision',
      permanent: false,
    });
    expect(await add(hostId, { by: 1, twice: false }, key)).toMatchObject({ done: true });
    expect(back.verbs.seen).toEqual([{ by: 1 }]);
  });

  it('read a section as its revision means it, and leave aside and name one that is newer', async () => {
    const condition = (hostId: string, status: string): Promise<unknown> =>
      eventually('the condition', async () => {
        const all = await management.container.get(HostRepository).conditions(management.database.op, [hostId]);
        return all.find((c) => c.type === 'Sections' && c.status === status);
      });
    const taken = (hostId: string): Promise<string[] | undefined> =>
      eventually('the parts', async () => sink.taken.get(hostId));
    const old = await join(first, { observed: [new Parts(1)] });
    const same = await join(first, { observed: [new Parts(2)] });
    expect(await taken(old.agent.hostId)).toEqual(['door']);
    expect(await taken(same.agent.hostId)).toEqual(['door of 2']);
    await condition(same.agent.hostId, 'true');
    // Upgraded before management: its third revision would fit the schema, and may mean something else.
    await running.pop()?.stop();
    const newer = await join(first, { state: same.agent.dir, token: '', observed: [new Parts(3)] });
    expect(await condition(newer.agent.hostId, 'false')).toMatchObject({
      reason: 'OfNewerAgent',
      message: expect.stringContaining('parts in revision 3 (read up to 2)'),
    });
    expect(sink.taken.get(newer.agent.hostId)).toEqual(['door of 2']);
    await running.pop()?.stop();
    await join(first, { state: same.agent.dir, token: '', observed: [new Parts(2)] });
    await condition(newer.agent.hostId, 'true');
  });

  it('read past what they do not know', async () => {
    const { agent, verbs } = await join(first);
    await known(agent.hostId, 1);
    const more = { by: 1, shade: 'red' };
    await management.caller.call(agent.hostId, first, more, { key: `${randomUUID()}/add/run`, fence: 1 });
    expect(verbs.seen).toEqual([{ by: 1 }]);
    const client = agent.container.get(HttpsManagementClient);
    const before = management.verbEvents.done.length;
    await client.post('/events', {
      events: [{ type: 'weather', sun: true }, { type: 'verb.done', key: 'k', extra: 1 }, 7],
      more: 1,
    });
    expect(management.verbEvents.done.slice(before)).toEqual([{ hostId: agent.hostId, key: 'k' }]);
    expect(await client.post('/tasks', { tasks: [], more: 1 })).toEqual({ live: {} });
    expect(
      await client.post('/heartbeat', {
        hostId: agent.hostId,
        boot: randomUUID(),
        seq: 1,
        time: Date.now(),
        endpoint: { address: '127.0.0.1', port: agent.agent.boundPort, family: 4 },
        agentVersion: '9',
        mood: 'good',
        sections: { unheard: {} },
      }),
    ).toEqual({ refused: { unheard: 'unknown_section' } });
  });

  it('tell an agent from before revisions nothing that it would refuse', async () => {
    const { agent, verbs } = await join(first);
    await known(agent.hostId, 1);
    await agent.stop();
    await management.database.query('UPDATE host SET revisions = NULL WHERE id = $1', [agent.hostId]);
    const registry = management.container.get(NodeRegistry) as HostRegistry;
    expect((await registry.abilities(agent.hostId, true))?.revisions).toBeNull();
    await expect(add(agent.hostId, { by: 1, twice: true })).rejects.toMatchObject({ code: 'host_outdated' });
    expect(verbs.seen).toEqual([]);
  });

  it('go on with files that one of them cannot read, and say which', async () => {
    const { agent } = await join(second);
    await agent.stop();
    const identity = nodeFile.join(agent.dir, 'identity', 'identity.json');
    const journal = nodeFile.join(agent.dir, 'journal', 'journal.log');
    writeFileSync(identity, readFileSync(identity, 'utf8').replace('"version":1', '"version":7'));
    writeFileSync(journal, encodeRecord('', 0, { format: 9 }));
    const back = await join(second, { state: agent.dir, token: '' });
    expect(back.agent.hostId).toBe(agent.hostId);
    const records = (): Promise<unknown> =>
      eventually('the condition', async () => {
        const all = await management.container.get(HostRepository).conditions(management.database.op, [agent.hostId]);
        return all.find((c) => c.type === 'Records' && c.status === 'false');
      });
    expect(await records()).toMatchObject({
      reason: 'OfNewerAgent',
      message: expect.stringMatching(/1 of its files.*journal is of a newer agent/),
    });
  });
});
