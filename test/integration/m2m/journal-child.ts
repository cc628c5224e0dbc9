import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { VerbJournal } from '../../../src/core/m2m/node/verb-journal';
import { defineVerb } from '../../../src/core/m2m/verbs/verb';
import { handle, type VerbHandler, VerbHandlers } from '../../../src/core/m2m/verbs/verb-handler';
import { Agent } from './agent-harness';

/** Makes the thing exist; each attempt is counted in `attempts`, the thing itself is made once. */
export const ensureThing = defineVerb('test.ensure', {
  args: z.strictObject({ name: z.string() }),
  result: z.object({ attempt: z.number() }),
  timeoutMs: 5_000,
});

export type DeathPoint = 'before-effect' | 'after-effect' | 'after-journal' | 'never';

const lines = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
export const thingsIn = (dir: string): string[] => lines(join(dir, 'things'));
export const attemptsIn = (dir: string): string[] => lines(join(dir, 'attempts'));

const die = (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
};

class Things extends VerbHandlers {
  constructor(
    private readonly dir: string,
    private readonly point: DeathPoint,
  ) {
    super();
  }

  handlers(): VerbHandler[] {
    return [
      handle(ensureThing, async ({ name }) => {
        appendFileSync(join(this.dir, 'attempts'), `${name}\n`);
        if (this.point === 'before-effect') await die();
        if (!thingsIn(this.dir).includes(name)) appendFileSync(join(this.dir, 'things'), `${name}\n`);
        if (this.point === 'after-effect') await die();
        return { attempt: attemptsIn(this.dir).length };
      }),
    ];
  }
}

/**
 * An agent in a process of its own that kills itself at one point: `journal-child.ts <state> <name> <port> <token>
 * <point>`.
 */
const main = async (): Promise<void> => {
  const [state = '', name = '', port = '0', token = '', point = 'never'] = process.argv.slice(2);
  if (point === 'after-journal') {
    const record = VerbJournal.prototype.recordResult;
    VerbJournal.prototype.recordResult = async function (...args) {
      await record.apply(this, args);
      await die();
    };
  }
  const agent = await Agent.start({
    state,
    name,
    port: Number(port),
    token,
    verbs: [new Things(state, point as DeathPoint)],
  });
  process.send?.({ hostId: agent.hostId, port: agent.agent.boundPort });
};

if (require.main === module) {
  process.once('disconnect', () => process.exit(0));
  main().catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  });
}
