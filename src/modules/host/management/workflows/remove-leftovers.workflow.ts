import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';
import { hostLeftovers, hostRemoveLeftovers } from '../../contract/host.verbs';
import { confirmedLeftover, type ConfirmedLeftover, type Leftover, removalLimit } from '../../contract/leftover';
import { ClaimedLeftovers } from '../leftovers/claimed-leftovers';

const input = z.strictObject({ hostId: field.id, leftovers: z.array(confirmedLeftover).min(1).max(removalLimit) });
type Input = z.output<typeof input>;

/**
 * Removes from a host what an operator has confirmed, exactly as it was listed: no row claims it, and the host, which
 * looks again, has nothing on record that it belongs to. What is gone by then is passed over.
 * Without a lock: the host removes one after the other, and of two that name the same one finds it gone.
 */
@injectable()
export class RemoveLeftoversWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(claimed: ClaimedLeftovers) {
    super();
    this.definition = defineWorkflow<Input>('host.remove-leftovers', {
      version: 1,
      input,
      deadline: '15m',
    })
      .remote('look', {
        title: 'Look at them again',
        verb: hostLeftovers,
        node: (c) => c.input.hostId,
        args: (c) => ({ only: c.input.leftovers.map(({ kind, name }) => ({ kind, name })) }),
        retry: { attempts: 5 },
        noUndo: 'it only looks',
      })
      .tx('check', {
        title: 'Check that they are nothing’s',
        run: async (c) => {
          const there = c.out.look.leftovers;
          refuseChanged(c.input.leftovers, there);
          const free = await claimed.unclaimed(c.op, c.input.hostId, there);
          const taken = there.find((one) => !free.includes(one));
          if (taken)
            throw new PermanentError(
              'leftover_claimed',
              `The ${taken.kind} ${taken.name} belongs to ${taken.owner} ${taken.ownerId}: nothing was removed.`,
            );
          return {};
        },
        noUndo: 'it only looks',
      })
      .remote('remove', {
        title: 'Remove them',
        verb: hostRemoveLeftovers,
        node: (c) => c.input.hostId,
        args: (c) => ({ leftovers: c.input.leftovers }),
        noUndo: 'what belonged to nothing is not brought back',
      });
  }
}

const refuseChanged = (confirmed: readonly ConfirmedLeftover[], there: readonly Leftover[]): void => {
  for (const { kind, name, mark } of there)
    if (!confirmed.some((one) => one.kind === kind && one.name === name && one.mark === mark))
      throw new PermanentError(
        'leftover_changed',
        `Something else is there by now as ${kind} ${name}: nothing was removed. List them again.`,
      );
};
