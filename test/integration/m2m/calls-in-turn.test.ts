import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent, request } from 'undici';
import { Database } from '../../../src/core/db/database';
import { ServerIdentity } from '../../../src/core/m2m/ca/server-identity';
import { NodeRegistry } from '../../../src/core/m2m/management/node-registry';
import { VerbRunner } from '../../../src/core/m2m/node/verb-runner';
import { Agent } from './agent-harness';
import { Management } from './harness';
import { eventually } from './harness-parts';
import { TestVerbs, bump, fail, peek, slow } from './test-verbs';

jest.setTimeout(60_000);

const plain = { verb: bump.name, fence: 1, args: { by: 1 } };

describe('several calls of one request', () => {
  let management: Management;
  let verbs: TestVerbs;
  let agent: Agent;
  const options = { fence: 1 };
  const call = (task: string, step: string, by = 1) => ({ verb: bump, args: { by }, key: `${task}/${step}/run` });

  beforeAll(async () => {
    management = await Management.start();
    verbs = new TestVerbs();
    agent = await Agent.start({ token: await management.token(), verbs: [verbs] });
  });
  afterAll(async () => {
    await agent.destroy();
    await management.stop();
  });

  it('are done one after the other, and each has its own answer', async () => {
    const task = randomUUID();
    const before = verbs.total;
    const all = await management.caller.callInTurn(agent.hostId, [call(task, 'a', 1), call(task, 'b', 10)], options);
    expect(all.outcomes).toEqual([
      { done: true, result: { total: before + 1 }, ms: expect.any(Number) },
      { done: true, result: { total: before + 11 }, ms: expect.any(Number) },
    ]);
    expect(all.error).toBeUndefined();
    // Each has its place in the journal.
    expect(await management.caller.outcome(agent.hostId, bump, `${task}/b/run`)).toMatchObject({ done: true });
    expect(await management.caller.callInTurn(agent.hostId, [call(task, 'a'), call(task, 'b')], options)).toMatchObject(
      {
        outcomes: [{ result: { total: before + 1 } }, { result: { total: before + 11 } }],
      },
    );
    expect(verbs.total).toBe(before + 11);
  });

  it('end with the first one that takes long: those after it are not begun', async () => {
    const task = randomUUID();
    const before = verbs.total;
    const long = { verb: slow, args: { name: task }, key: `${task}/long/run` };
    const calls = [call(task, 'a'), long, call(task, 'b')];
    const first = await management.caller.callInTurn(agent.hostId, calls, options);
    expect(first).toMatchObject({ outcomes: [{ done: true }, { done: false }] });
    expect(first.outcomes).toHaveLength(2);
    expect(verbs.total).toBe(before + 1);
    verbs.gate(task).open();
    await eventually('the long one', async () => (await management.caller.outcome(agent.hostId, slow, long.key)).done);
    const second = await management.caller.callInTurn(agent.hostId, calls, options);
    expect(second.outcomes.map(({ done }) => done)).toEqual([true, true, true]);
    expect(verbs.total).toBe(before + 2);
  });

  it.each([true, false])('end with the first one that fails, for good: %s', async (permanent) => {
    const task = randomUUID();
    const before = verbs.total;
    const failing = { verb: fail, args: { permanent }, key: `${task}/fails/run` };
    const calls = [call(task, 'a'), failing, call(task, 'b')];
    expect(await management.caller.callInTurn(agent.hostId, calls, options)).toMatchObject({
      outcomes: [{ done: true }],
      error: { code: 'nope', verb: fail.name, permanent },
    });
    expect(verbs.total).toBe(before + 1);
  });

  it('are each refused by a later fence, and by an undo that was asked for', async () => {
    const task = randomUUID();
    const before = verbs.total;
    await management.caller.call(agent.hostId, bump, { by: 0 }, { key: `${task}/b/undo`, fence: 1 });
    expect(await management.caller.callInTurn(agent.hostId, [call(task, 'a'), call(task, 'b')], options)).toMatchObject(
      {
        outcomes: [{ done: true }],
        error: { code: 'undone', permanent: true },
      },
    );
    await management.caller.call(agent.hostId, bump, { by: 0 }, { key: `${task}/c/run`, fence: 2 });
    expect(await management.caller.callInTurn(agent.hostId, [call(task, 'd'), call(task, 'e')], options)).toMatchObject(
      {
        outcomes: [],
        error: { code: 'stale_fence' },
      },
    );
    expect(verbs.total).toBe(before + 1);
  });

  it('are told up to the one that the host does not understand', async () => {
    const task = randomUUID();
    const newer = { ...bump, revision: 2, older: {} };
    const calls = [call(task, 'a'), { ...call(task, 'b'), verb: newer }];
    expect(await management.caller.callInTurn(agent.hostId, calls, options)).toMatchObject({
      outcomes: [{ done: true }],
      error: { code: 'host_outdated' },
    });
    // It answers to what it was never told, too: that is not believed.
    const done = { kind: 'done' as const, result: { total: 1 }, ms: 1 };
    const lying = jest.spyOn(VerbRunner.prototype, 'callInTurn').mockResolvedValueOnce([done, done]);
    expect(await management.caller.callInTurn(agent.hostId, calls, options)).toMatchObject({
      outcomes: [{ done: true }],
      error: { code: 'host_outdated' },
    });
    lying.mockRestore();
    const two = calls.toReversed();
    await expect(management.caller.callInTurn(agent.hostId, two, options)).rejects.toMatchObject({
      code: 'host_outdated',
    });
  });

  it('are sent to hosts that told so only', async () => {
    await eventually(
      'what it told',
      async () =>
        (await management.caller.call(agent.hostId, peek, {}, {})) && management.caller.takesCallsInTurn(agent.hostId),
    );
    expect(management.caller.takesCallsInTurn(randomUUID())).toBe(false);
    await management.container.get(Database).query(`UPDATE host SET revisions = revisions - 'callsInTurn'`);
    await management.container.get(NodeRegistry).abilities(agent.hostId, true);
    expect(management.caller.takesCallsInTurn(agent.hostId)).toBe(false);
  });

  it.each([
    ['nothing', {}],
    ['none', { calls: [] }],
    ['one without its verb', { calls: [{ key: 'a/b/run', fence: 1, args: { by: 1 } }] }],
    ['too many', { calls: Array.from({ length: 17 }, (_, n) => ({ ...plain, key: `a/${n}/run` })) }],
  ])('are refused as a whole when the request is not valid: %s', async (_what, body) => {
    const before = verbs.total;
    const { client, root } = management.container.get(ServerIdentity).current();
    const dispatcher = new HttpAgent({
      connect: { ca: root, cert: client.certificate, key: client.key, checkServerIdentity: () => undefined },
    });
    const url = `https://127.0.0.1:${agent.agent.boundPort}/calls`;
    const answer = await request(url, { method: 'POST', body: JSON.stringify(body), dispatcher });
    expect(answer.statusCode).toBe(400);
    expect(await answer.body.json()).toMatchObject({ error: { code: 'invalid_call' } });
    await dispatcher.destroy();
    expect(verbs.total).toBe(before);
  });

  const total = { kind: 'done' as const, result: { total: 1 }, ms: 1 };
  it.each([
    ['of one after one that is not done', [{ kind: 'accepted' as const, ms: 1 }, total], [false]],
    ['to more than was asked', [total, total, total], [true, true]],
    ['to less than was asked', [total], [true]],
  ])('are read as far as they can be when a host answers %s', async (_what, answers, done) => {
    const lying = jest.spyOn(VerbRunner.prototype, 'callInTurn').mockResolvedValueOnce(answers);
    const task = randomUUID();
    const all = await management.caller.callInTurn(agent.hostId, [call(task, 'a'), call(task, 'b')], options);
    expect(all.outcomes.map((outcome) => outcome.done)).toEqual(done);
    expect(all.error).toBeUndefined();
    lying.mockRestore();
  });

  it.each([
    ['a time before it began', [{ ...total, ms: -1 }], 'rejects'],
    ['another result', [{ ...total, result: { total: 'many' } }], 'ends'],
    ['nothing', [{ ...total, result: undefined }], 'ends'],
  ])('have no outcome when a host answers with %s', async (_what, answers, how) => {
    const lying = jest.spyOn(VerbRunner.prototype, 'callInTurn').mockResolvedValueOnce(answers);
    const task = randomUUID();
    const asked = management.caller.callInTurn(agent.hostId, [call(task, 'a'), call(task, 'b')], options);
    if (how === 'rejects') await expect(asked).rejects.toMatchObject({ code: 'invalid_answer' });
    else expect(await asked).toMatchObject({ outcomes: [], error: { code: 'invalid_result' } });
    lying.mockRestore();
  });

  it('name their verb as it is written', async () => {
    const { client, root } = management.container.get(ServerIdentity).current();
    const dispatcher = new HttpAgent({
      connect: { ca: root, cert: client.certificate, key: client.key, checkServerIdentity: () => undefined },
      maxCachedSessions: 0,
    });
    const at = (path: string): string => `https://127.0.0.1:${agent.agent.boundPort}${path}`;
    const ask = async (path: string): Promise<unknown> =>
      (await request(at(path), { method: 'POST', body: '{"args":{}}', dispatcher })).body.json();
    expect(await ask('/verbs/test.peek')).toMatchObject({ result: {} });
    expect(await ask('/verbs/test%2epeek')).toMatchObject({ error: { code: 'unknown_verb' } });
    await dispatcher.destroy();
  });
});
