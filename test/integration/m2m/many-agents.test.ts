import { z } from 'zod';
import { defineVerb } from '../../../src/core/m2m/verbs/verb';
import { handle, type VerbHandler, VerbHandlers } from '../../../src/core/m2m/verbs/verb-handler';
import { Management } from './harness';
import { Agent } from './agent-harness';
import { eventually } from './harness-parts';

jest.setTimeout(120_000);

const whoami = defineVerb('test.whoami', { args: z.strictObject({}), result: z.object({ name: z.string() }) });

class WhoAmI extends VerbHandlers {
  constructor(private readonly name: string) {
    super();
  }
  handlers(): VerbHandler[] {
    return [handle(whoami, async () => ({ name: this.name }))];
  }
}

let management: Management;
let agents: Agent[] = [];

beforeAll(async () => {
  management = await Management.start();
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.destroy()));
  await management.stop();
});

it('runs fifty agents in one process, each its own host', async () => {
  const names = Array.from({ length: 50 }, (_, i) => `many-${String(i).padStart(2, '0')}`);
  agents = await Promise.all(
    names.map(async (name) =>
      Agent.start({
        name,
        token: await management.token(),
        verbs: [new WhoAmI(name)],
        tuning: { m2m: { heartbeatMs: 1_000 } },
      }),
    ),
  );
  expect(new Set(agents.map((agent) => agent.hostId)).size).toBe(50);
  await eventually(
    'all ready',
    async () => (await management.database.query(`SELECT 1 FROM host WHERE state = 'ready'`)).length === 50,
    60_000,
  );
  const answers = await Promise.all(
    agents.flatMap((agent) =>
      [1, 2, 3].map((n) =>
        management.caller.call(agent.hostId, whoami, {}, { key: `${agent.hostId}/s${n}/run`, fence: 1 }),
      ),
    ),
  );
  expect(answers.map((a) => (a.done ? a.result.name : ''))).toEqual(names.flatMap((name) => [name, name, name]));
});
