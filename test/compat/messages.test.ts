import Ajv from 'ajv/dist/2020';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { heartbeatBody } from '../../src/core/m2m/reports/heartbeat';
import { argsFor } from '../../src/core/m2m/verbs/revisions';
import { defineVerb, type Verb, type WireArgs } from '../../src/core/m2m/verbs/verb';
import { handle, VerbHandlers, type VerbHandler } from '../../src/core/m2m/verbs/verb-handler';
import { HostRepository } from '../../src/modules/host/management/hosts/host.repository';
import { Management } from '../integration/m2m/harness';
import { Agent } from '../integration/m2m/agent-harness';
import { eventually } from '../integration/m2m/harness-parts';
import { allVerbs, contracts, sectionSchemas } from './contracts';
import { contractsOf, messagesOf, releases, verbOf } from './releases';

jest.setTimeout(60_000);

describe.each(releases)('messages of %s', (release) => {
  const then = contractsOf(release);
  const messages = messagesOf(release);
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const calls = messages.filter((m) => verbOf(m) !== undefined);
  let verbs: Map<string, Verb>;
  const verb = (name: string | undefined): Verb => {
    const found = verbs.get(name ?? '');
    if (!found) throw new Error(`this build has no verb ${name}`);
    return found;
  };
  beforeAll(async () => {
    verbs = await allVerbs();
  });

  it('has every kind of message', () => {
    const kinds = new Set(messages.map((m) => verbOf(m) ?? m.path.replace(/\?.*/, '')));
    for (const path of ['/node/enroll', '/node/heartbeat', '/node/events', '/verbs/outcome'])
      expect(kinds).toContain(path);
    // Nobody but an operator's hand drops an image from a cache.
    for (const name of Object.keys(then.verbs).filter((one) => one !== 'image.absent')) expect(kinds).toContain(name);
  });

  it('knows no verb that this build lacks, and none in a newer revision', () => {
    const lacking = Object.entries(then.verbs).filter(([name, old]) => (verbs.get(name)?.revision ?? 0) < old.revision);
    expect(lacking.map(([name]) => name)).toEqual([]);
  });

  it('is read by an agent of this build: arguments', () => {
    for (const call of calls) {
      const parsed = verb(verbOf(call)).args.safeParse(call.request?.['args']);
      expect([verbOf(call), parsed.error?.issues]).toEqual([verbOf(call), undefined]);
    }
  });

  it('is read by management of this build: results and heartbeats', async () => {
    const schemas = await sectionSchemas();
    for (const call of calls.filter((m) => m.status === 200)) {
      const parsed = verb(verbOf(call)).result.safeParse(call.response?.['result']);
      expect([verbOf(call), parsed.error?.issues]).toEqual([verbOf(call), undefined]);
    }
    let sections = 0;
    for (const beat of messages.filter((m) => m.path === '/node/heartbeat'))
      for (const [name, data] of Object.entries(heartbeatBody.parse(beat.request).sections)) {
        const parsed = schemas[name]?.safeParse(data);
        expect([name, parsed?.success, parsed?.error?.issues]).toEqual([name, true, undefined]);
        sections += 1;
      }
    expect(sections).toBeGreaterThan(Object.keys(then.sections).length);
  });

  it('is written so that its agents read it, who refuse what they do not know', () => {
    for (const call of calls) {
      const name = verbOf(call) ?? '';
      const old = then.verbs[name];
      if (!old) throw new Error(`${release} has no verb ${name}`);
      const written = argsFor(verb(name), call.request?.['args'] as WireArgs, old.revision);
      expect([name, ajv.validate(old.args, written), ajv.errorsText()]).toEqual([name, true, 'No errors']);
    }
  });

  it('asks for a new revision of each verb whose arguments are others now', async () => {
    const now = await contracts();
    const changed = Object.entries(then.verbs).filter(
      ([name, old]) =>
        now.verbs[name]?.revision === old.revision &&
        JSON.stringify(now.verbs[name]?.args) !== JSON.stringify(old.args),
    );
    expect(changed.map(([name]) => name)).toEqual([]);
  });

  describe('between living halves', () => {
    let management: Management;
    let agent: Agent;
    const refused: string[] = [];

    /** As that release: its revisions, its recorded answers, and a refusal of every field that it did not know. */
    class OlderNode extends VerbHandlers {
      handlers(): VerbHandler[] {
        return Object.entries(then.verbs).map(([name, old]) =>
          handle(
            defineVerb(name, {
              args: z.unknown().refine((args) => {
                const fits = ajv.validate(old.args, args);
                if (!fits) refused.push(`${name}: ${ajv.errorsText()}`);
                return fits;
              }),
              result: z.unknown(),
              revision: old.revision,
              mutating: verb(name).mutating,
            }),
            async () =>
              calls.find((m) => verbOf(m) === name && m.status === 200)?.response?.['result'] ??
              messages.find((m) => m.path.startsWith('/verbs/outcome') && m.status === 200)?.response?.['result'] ??
              {},
          ),
        );
      }
    }

    beforeAll(async () => {
      management = await Management.start();
      agent = await Agent.start({ token: await management.token(), verbs: [new OlderNode()] });
      await eventually('its revisions are known', async () => {
        const known = await management.container.get(HostRepository).abilities(management.database.op, agent.hostId);
        return known?.revisions;
      });
    });
    afterAll(async () => {
      await agent?.destroy();
      await management?.stop();
    });

    it('works by every verb: management of this build and an agent of that release', async () => {
      for (const call of calls) {
        const name = verbOf(call) ?? '';
        const answer = await management.caller.call(agent.hostId, verb(name), call.request?.['args'], {
          key: `${randomUUID()}/x/run`,
          fence: 1,
        });
        expect([name, answer.done]).toEqual([name, true]);
      }
      expect(refused).toEqual([]);
    });
  });
});
