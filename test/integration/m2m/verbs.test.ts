import { appendFileSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { Agent as HttpAgent, request } from 'undici';
import { z } from 'zod';
import { Breakers } from '../../../src/core/m2m/management/breakers';
import { NodeUnreachableError } from '../../../src/core/m2m/management/node-caller';
import { StreamHandlers, type StreamHandler } from '../../../src/core/m2m/management/node-route';
import { VerbFailure } from '../../../src/core/m2m/verbs/verb-handler';
import { NodeIdentity } from '../../../src/core/m2m/node/node-identity';
import { defineVerb } from '../../../src/core/m2m/verbs/verb';
import { Management } from './harness';
import { Agent, type AgentParts } from './agent-harness';
import { eventually } from './harness-parts';
import { TestVerbs, bump, peek, fail, slow } from './test-verbs';

class EchoStreams extends StreamHandlers {
  streams(): StreamHandler[] {
    return [
      {
        path: '/streams/things/:id/console',
        open: async ({ id = '' }) => {
          if (id === 'none') throw new VerbFailure('thing_absent', 'There is no such thing.', true, { id });
          return (stream) => {
            stream.write(`hello ${id}\n`);
            stream.pipe(stream);
          };
        },
      },
    ];
  }
}

jest.setTimeout(60_000);

let management: Management;

const running: Agent[] = [];

const start = async (parts: AgentParts): Promise<Agent> => {
  const agent = await Agent.start(parts);
  running.push(agent);
  return agent;
};

const taskId = (): string => randomUUID();

beforeAll(async () => {
  management = await Management.start({ m2m: { breakerFailures: 3, breakerOpenMs: 400 } });
});

afterAll(async () => {
  await Promise.all(running.map((agent) => agent.destroy()));
  await management.stop();
});

describe('verbs', () => {
  let verbs: TestVerbs;
  let agent: Agent;
  beforeAll(async () => {
    verbs = new TestVerbs();
    agent = await start({ token: await management.token(), verbs: [verbs], streams: [new EchoStreams()] });
  });

  it('answers a repeated key with the first result', async () => {
    const key = `${taskId()}/step/run`;
    const first = await management.caller.call(agent.hostId, bump, { by: 5 }, { key, fence: 1 });
    const again = await management.caller.call(agent.hostId, bump, { by: 5 }, { key, fence: 2 });
    expect(first).toEqual({ done: true, result: { total: verbs.total } });
    expect(again).toEqual(first);
    expect(await management.caller.outcome(agent.hostId, bump, key)).toEqual(first);
    expect(await management.caller.call(agent.hostId, peek, {}, {})).toEqual({
      done: true,
      result: { total: verbs.total },
    });
  });

  it('runs a verb once for fifty equal calls at once', async () => {
    const before = verbs.total;
    const key = `${taskId()}/step/run`;
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => management.caller.call(agent.hostId, bump, { by: 1 }, { key, fence: 1 })),
    );
    expect(new Set(answers.map((a) => JSON.stringify(a))).size).toBe(1);
    expect(verbs.total).toBe(before + 1);
  });

  it('refuses a lower fence of the same task, whatever the step', async () => {
    const task = taskId();
    await management.caller.call(agent.hostId, bump, { by: 1 }, { key: `${task}/a/run`, fence: 7 });
    const before = verbs.total;
    await expect(
      management.caller.call(agent.hostId, bump, { by: 1 }, { key: `${task}/b/run`, fence: 6 }),
    ).rejects.toMatchObject({ code: 'stale_fence', permanent: true });
    await expect(
      management.caller.call(agent.hostId, bump, { by: 1 }, { key: `${task}/a/run`, fence: 6 }),
    ).rejects.toMatchObject({ code: 'stale_fence' });
    expect(verbs.total).toBe(before);
    await management.caller.call(agent.hostId, bump, { by: 1 }, { key: `${taskId()}/b/run`, fence: 1 });
  });

  it('remembers permanent failures and runs again after transient ones', async () => {
    const lasting = { key: `${taskId()}/s/run`, fence: 1 };
    await expect(management.caller.call(agent.hostId, fail, { permanent: true }, lasting)).rejects.toMatchObject({
      code: 'nope',
      permanent: true,
    });
    const runs = verbs.failures;
    await expect(management.caller.call(agent.hostId, fail, { permanent: true }, lasting)).rejects.toMatchObject({
      code: 'nope',
      permanent: true,
      extra: { n: runs },
    });
    expect(verbs.failures).toBe(runs);
    const passing = { key: `${taskId()}/s/run`, fence: 1 };
    await expect(management.caller.call(agent.hostId, fail, { permanent: false }, passing)).rejects.toMatchObject({
      code: 'nope',
      permanent: false,
    });
    await expect(management.caller.call(agent.hostId, fail, { permanent: false }, passing)).rejects.toMatchObject({
      code: 'nope',
      permanent: false,
    });
    expect(verbs.failures).toBe(runs + 2);
  });

  it('refuses bad arguments, unknown verbs, a missing key and a reused key for good', async () => {
    const options = () => ({ key: `${taskId()}/s/run`, fence: 1 });
    await expect(management.caller.call(agent.hostId, bump, { by: 'x' } as never, options())).rejects.toMatchObject({
      code: 'invalid_args',
      permanent: true,
    });
    await expect(
      management.caller.call(agent.hostId, bump, { by: 1, more: 1 } as never, options()),
    ).rejects.toMatchObject({ code: 'invalid_args', permanent: true });
    await expect(
      management.caller.call(
        agent.hostId,
        defineVerb('test.none', { args: z.object({}), result: z.object({}) }),
        {},
        options(),
      ),
    ).rejects.toMatchObject({ code: 'unknown_verb', permanent: true });
    await expect(management.caller.call(agent.hostId, bump, { by: 1 }, {})).rejects.toMatchObject({
      code: 'key_required',
      permanent: true,
    });
    const used = options();
    await management.caller.call(agent.hostId, bump, { by: 1 }, used);
    await expect(management.caller.call(agent.hostId, slow, { name: 'x' }, used)).rejects.toMatchObject({
      code: 'key_reused',
      permanent: true,
    });
  });

  it('accepts a long verb, reports progress and its end, and keeps the outcome', async () => {
    const key = `${taskId()}/s/run`;
    expect(await management.caller.call(agent.hostId, slow, { name: 'a' }, { key, fence: 1 })).toEqual({ done: false });
    expect(await management.caller.call(agent.hostId, slow, { name: 'a' }, { key, fence: 1 })).toEqual({ done: false });
    expect(await management.caller.outcome(agent.hostId, slow, key)).toEqual({ done: false });
    await eventually('progress', () =>
      management.verbEvents.progress.some((p) => p.key === key && p.percent === 50 && p.message === 'half'),
    );
    verbs.gate('a').open();
    await eventually('verb.done', () =>
      management.verbEvents.done.some((d) => d.key === key && d.hostId === agent.hostId),
    );
    expect(await management.caller.outcome(agent.hostId, slow, key)).toEqual({ done: true, result: { name: 'a' } });
    expect(verbs.runs).toBe(1);
  });

  it('reports the failure of an accepted verb, and runs it again only when it was transient', async () => {
    for (const [name, permanent] of [
      ['bad luck', false],
      ['bad for good', true],
    ] as const) {
      const key = `${taskId()}/s/run`;
      expect(await management.caller.call(agent.hostId, slow, { name }, { key, fence: 1 })).toEqual({ done: false });
      verbs.gate(name).open();
      await eventually('verb.done', () => management.verbEvents.done.some((d) => d.key === key));
      await expect(management.caller.outcome(agent.hostId, slow, key)).rejects.toMatchObject({
        code: 'bad_name',
        permanent,
      });
      const runs = verbs.runs;
      await expect(management.caller.call(agent.hostId, slow, { name }, { key, fence: 1 })).rejects.toMatchObject({
        code: 'bad_name',
      });
      expect(verbs.runs).toBe(permanent ? runs : runs + 1);
    }
  });

  it('answers in time a long verb that is quick', async () => {
    verbs.gate('quick').open();
    expect(
      await management.caller.call(agent.hostId, slow, { name: 'quick' }, { key: `${taskId()}/s/run`, fence: 1 }),
    ).toEqual({ done: true, result: { name: 'quick' } });
  });

  it('opens byte streams both ways and refuses paths that are none', async () => {
    const stream: Duplex = await management.caller.stream(agent.hostId, '/streams/things/42/console');
    let text = '';
    stream.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    const big = 'x'.repeat(300_000);
    stream.write(big);
    await eventually('echo', () => text.length === big.length + 'hello 42\n'.length);
    expect(text.startsWith('hello 42\n')).toBe(true);
    stream.end();
    stream.destroy();
    await expect(management.caller.stream(agent.hostId, '/streams/nothing')).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(management.caller.stream(agent.hostId, '/streams/things/none/console')).rejects.toMatchObject({
      code: 'thing_absent',
      message: 'There is no such thing.',
      permanent: true,
      extra: { id: 'none' },
    });
    await expect(management.caller.stream(agent.hostId, '/streams/things/..%2f42/console')).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('lets no node call another one, and nobody without a certificate', async () => {
    const other = await start({ token: await management.token() });
    const { key, certificate, root } = other.container.get(NodeIdentity).current();
    const url = `https://127.0.0.1:${agent.agent.boundPort}/verbs/test.peek`;
    const asNode = new HttpAgent({
      connect: { ca: root, cert: certificate, key, checkServerIdentity: () => undefined },
    });
    const response = await request(url, { method: 'POST', body: '{"args":{}}', dispatcher: asNode });
    expect(response.statusCode).toBe(403);
    await asNode.destroy();
    const asNobody = new HttpAgent({ connect: { ca: root, checkServerIdentity: () => undefined } });
    await expect(request(url, { method: 'POST', body: '{"args":{}}', dispatcher: asNobody })).rejects.toThrow();
    await asNobody.destroy();
  });

  it('does not call a host that is another than the one asked', async () => {
    const other = await start({ token: await management.token(), verbs: [new TestVerbs()] });
    await other.stop();
    running.splice(running.indexOf(other), 1);
    await management.database.query('UPDATE host SET port = $1 WHERE id = $2', [agent.agent.boundPort, other.hostId]);
    const error = await management.caller.call(other.hostId, peek, {}, {}).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(NodeUnreachableError);
    expect(String(error)).toContain(`not host ${other.hostId}`);
    await expect(management.caller.call(randomUUID(), peek, {}, {})).rejects.toMatchObject({
      code: 'unknown_host',
      permanent: true,
    });
  });

  it('refuses handlers that are there twice and verbs without one', () => {
    const twice = Agent.start({ token: 'vcsj_', verbs: [new TestVerbs(), new TestVerbs()] });
    return expect(twice).rejects.toThrow('two handlers');
  });
});

describe('the journal over a restart of the agent', () => {
  it('replays results, remembers fences, forgets transient failures, and repeats what it was stopped in', async () => {
    const verbs = new TestVerbs();
    const first = await Agent.start({ token: await management.token(), name: 'restarting', verbs: [verbs] });
    const { hostId } = first;
    const task = taskId();
    const done = await management.caller.call(hostId, bump, { by: 3 }, { key: `${task}/a/run`, fence: 5 });
    await expect(
      management.caller.call(hostId, fail, { permanent: true }, { key: `${task}/b/run`, fence: 5 }),
    ).rejects.toMatchObject({ code: 'nope' });
    const cut = `${taskId()}/s/run`;
    expect(await management.caller.call(hostId, slow, { name: 'cut' }, { key: cut, fence: 1 })).toEqual({
      done: false,
    });
    await first.stop();

    // A crash in the middle of a write leaves half a line.
    const journal = join(first.dir, 'journal', 'journal.log');
    const whole = statSync(journal).size;
    appendFileSync(journal, readFileSync(journal).subarray(0, 40));
    const fresh = new TestVerbs();
    const second = await start({ state: first.dir, name: 'restarting', verbs: [fresh] });
    expect(second.hostId).toBe(hostId);
    expect(statSync(journal).size).toBe(whole);
    await eventually('back', () =>
      management.caller.call(hostId, peek, {}, {}).then(
        () => true,
        () => false,
      ),
    );
    expect(await management.caller.call(hostId, bump, { by: 3 }, { key: `${task}/a/run`, fence: 5 })).toEqual(done);
    expect(fresh.total).toBe(0);
    await expect(
      management.caller.call(hostId, fail, { permanent: true }, { key: `${task}/b/run`, fence: 5 }),
    ).rejects.toMatchObject({ code: 'nope', extra: { n: 1 } });
    await expect(
      management.caller.call(hostId, bump, { by: 3 }, { key: `${task}/c/run`, fence: 4 }),
    ).rejects.toMatchObject({ code: 'stale_fence' });
    await expect(management.caller.outcome(hostId, slow, cut)).rejects.toMatchObject({
      code: 'unknown_key',
      permanent: false,
    });
    fresh.gate('cut').open();
    expect(await management.caller.call(hostId, slow, { name: 'cut' }, { key: cut, fence: 1 })).toEqual({
      done: true,
      result: { name: 'cut' },
    });
  });

  it('cuts a torn tail and keeps what came before it', async () => {
    const verbs = new TestVerbs();
    const first = await Agent.start({ token: await management.token(), name: 'torn', verbs: [verbs] });
    const keys = [`${taskId()}/a/run`, `${taskId()}/a/run`];
    for (const key of keys) await management.caller.call(first.hostId, bump, { by: 1 }, { key, fence: 1 });
    await first.stop();
    const journal = join(first.dir, 'journal', 'journal.log');
    truncateSync(journal, statSync(journal).size - 7);
    const fresh = new TestVerbs();
    const second = await start({ state: first.dir, name: 'torn', verbs: [fresh] });
    await eventually('back', () =>
      management.caller.call(second.hostId, peek, {}, {}).then(
        () => true,
        () => false,
      ),
    );
    expect(await management.caller.call(second.hostId, bump, { by: 1 }, { key: keys[0] ?? '', fence: 1 })).toEqual({
      done: true,
      result: { total: 1 },
    });
    expect(fresh.total).toBe(0);
    await management.caller.call(second.hostId, bump, { by: 1 }, { key: keys[1] ?? '', fence: 1 });
    expect(fresh.total).toBe(1);
  });
});

describe('circuit breaker', () => {
  it('opens after failures, lets one probe through, and closes when the host answers', async () => {
    const first = await Agent.start({ token: await management.token(), name: 'breaking', verbs: [new TestVerbs()] });
    const { hostId } = first;
    const port = first.agent.boundPort;
    const breakers = management.container.get(Breakers);
    const call = () => management.caller.call(hostId, peek, {}, {});
    await call();
    await eventually(
      'heard',
      async () =>
        (await management.database.query(`SELECT 1 FROM host WHERE id = $1 AND heartbeat_ok`, [hostId])).length > 0,
    );
    await first.stop();
    // Something else takes the port and hangs up at once.
    let connections = 0;
    const deaf = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    deaf.listen(port, '127.0.0.1');
    await once(deaf, 'listening');
    for (let i = 0; i < 3; i += 1) await expect(call()).rejects.toBeInstanceOf(NodeUnreachableError);
    expect(breakers.state(hostId)).toBe('open');
    const seen = connections;
    for (let i = 0; i < 20; i += 1) await expect(call()).rejects.toThrow('not called for a while');
    expect(connections).toBe(seen);
    await eventually('half-open', () => breakers.state(hostId) === 'half-open');
    const probes = await Promise.allSettled(Array.from({ length: 10 }, call));
    expect(probes.filter((p) => p.status === 'rejected' && !String(p.reason).includes('for a while'))).toHaveLength(1);
    expect(breakers.state(hostId)).toBe('open');
    deaf.close();
    await once(deaf, 'close');
    await start({ state: first.dir, name: 'breaking', port, verbs: [new TestVerbs()] });
    await eventually('half-open', () => breakers.state(hostId) === 'half-open');
    await call();
    expect(breakers.state(hostId)).toBe('closed');
  });

  it('does not open for verbs that fail: the host answered', async () => {
    const agent = await start({ token: await management.token(), verbs: [new TestVerbs()] });
    for (let i = 0; i < 10; i += 1)
      await expect(
        management.caller.call(agent.hostId, fail, { permanent: false }, { key: `${taskId()}/s/run`, fence: 1 }),
      ).rejects.toMatchObject({ code: 'nope' });
    expect(management.container.get(Breakers).state(agent.hostId)).toBe('closed');
  });

  it('gives up at the verb’s deadline', async () => {
    const never = defineVerb('test.slow', { args: slow.args, result: slow.result, timeoutMs: 150 });
    const agent = await start({
      token: await management.token(),
      verbs: [new TestVerbs()],
      tuning: { m2m: { heartbeatMs: 200, acceptAfterMs: 5_000 } },
    });
    // Without it the host would answer after five seconds, that it is at work.
    await expect(
      management.caller.call(agent.hostId, never, { name: 'never' }, { key: `${taskId()}/s/run`, fence: 1 }),
    ).rejects.toBeInstanceOf(NodeUnreachableError);
  });
});
