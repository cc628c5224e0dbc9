import { once } from 'node:events';
import { z } from 'zod';
import { defineVerb } from '../../../src/core/m2m/verbs/verb';
import { handle, VerbFailure, type VerbHandler, VerbHandlers } from '../../../src/core/m2m/verbs/verb-handler';

export const bump = defineVerb('test.bump', {
  args: z.strictObject({ by: z.number().int() }),
  result: z.object({ total: z.number() }),
  timeoutMs: 2_000,
});

export const slow = defineVerb('test.slow', {
  args: z.strictObject({ name: z.string() }),
  result: z.object({ name: z.string() }),
  timeoutMs: 5_000,
  long: true,
});

export const fail = defineVerb('test.fail', {
  args: z.strictObject({ permanent: z.boolean() }),
  result: z.object({}),
  timeoutMs: 2_000,
});

export const peek = defineVerb('test.peek', {
  args: z.strictObject({}),
  result: z.object({ total: z.number() }),
  mutating: false,
  timeoutMs: 2_000,
});

/** A node module with effects that can be counted and verbs that end when told to. */
export class TestVerbs extends VerbHandlers {
  total = 0;
  failures = 0;
  runs = 0;
  private readonly gates = new Map<string, { open: () => void; promise: Promise<void> }>();

  gate(name: string): { open: () => void; promise: Promise<void> } {
    let gate = this.gates.get(name);
    if (!gate) {
      let open = (): void => undefined;
      const promise = new Promise<void>((resolve) => (open = resolve));
      gate = { open, promise };
      this.gates.set(name, gate);
    }
    return gate;
  }

  handlers(): VerbHandler[] {
    return [
      handle(bump, async ({ by }) => ({ total: (this.total += by) })),
      handle(slow, async ({ name }, ctx) => {
        this.runs += 1;
        ctx.progress(50, 'half');
        await Promise.race([
          this.gate(name).promise,
          once(ctx.signal, 'abort').then(() => Promise.reject(new VerbFailure('stopping', 'stopping', false))),
        ]);
        if (name.startsWith('bad')) throw new VerbFailure('bad_name', 'no', name.includes('for good'), { name });
        return { name };
      }),
      handle(fail, async ({ permanent }) => {
        this.failures += 1;
        throw new VerbFailure('nope', 'cannot', permanent, { n: this.failures });
      }),
      handle(peek, async () => ({ total: this.total })),
    ];
  }
}
