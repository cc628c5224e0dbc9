import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { instanceCoreDumpAbsent } from '../../contract/instance.verbs';
import { InstanceEvents } from '../instances/instance.events';
import { coreDumpLock } from './core-dump-instance.workflow';
import { InstanceSteps } from './instance-steps';
import { beginOnHost } from './verb-steps';

/** `userId`: who asked for it. */
const input = z.strictObject({ instanceId: field.id, dumpId: field.id, userId: z.string() });
type Input = z.output<typeof input>;

const goesForward = 'what is deleted does not come back';

/** A core dump goes from its host. Its instance may do something else meanwhile. */
@injectable()
export class DeleteCoreDumpWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps, events: InstanceEvents) {
    super();
    this.definition = defineWorkflow<Input>('instance.delete-core-dump', {
      version: 1,
      input,
      lock: coreDumpLock,
      deadline: '30m',
    })
      .tx('begin', { ...beginOnHost<Input, object>(steps), title: 'Look for its host' })
      .remote('remove-dump', {
        title: 'Remove the file',
        verb: instanceCoreDumpAbsent,
        node: (c) => c.out.begin.hostId,
        args: ({ input: { instanceId, dumpId } }) => ({ instanceId, dumpId }),
        noUndo: goesForward,
      })
      .tx('removed', {
        title: 'Removed',
        run: async (c) => {
          const { instanceId, dumpId, userId } = c.input;
          const instance = await steps.find(c.op, instanceId);
          if (instance) await events.coreDump(c.op, 'core-dump-deleted', instance, { coreDumpId: dumpId, userId });
          return {};
        },
        noUndo: goesForward,
      });
  }
}
