import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { coreDumpFormats } from '../../contract/core-dump-formats';
import { instanceCoreDump, instanceCoreDumpAbsent } from '../../contract/instance.verbs';
import { InstanceEvents } from '../instances/instance.events';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';
import { beginOnHost } from './verb-steps';

/** `userId`: who asked for it. */
const input = z.strictObject({
  instanceId: field.id,
  dumpId: field.id,
  format: z.enum(coreDumpFormats),
  userId: z.string(),
});
type Input = z.output<typeof input>;

/** One task at a time for a core dump, whatever works on its instance. */
export const coreDumpLock = ({ dumpId }: { dumpId: string }): string => `core-dump/${dumpId}`;

/** The memory of a machine becomes a file on its host, and nothing else is written down of it. Undone: there is none. */
@injectable()
export class CoreDumpInstanceWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps, events: InstanceEvents) {
    super();
    this.definition = defineWorkflow<Input>('instance.core-dump', {
      version: 1,
      input,
      lock: (asked) => [instanceLock(asked), coreDumpLock(asked)],
      deadline: '4h',
      whenUndone: (c) => steps.release(c.op, c.input.instanceId, c.taskId, null),
    })
      .tx('begin', beginOnHost(steps))
      .remote('dump-vmm', {
        title: 'Write the memory of the virtual machine',
        verb: instanceCoreDump,
        node: (c) => c.out.begin.hostId,
        args: ({ input: { instanceId, dumpId, format } }) => ({ instanceId, dumpId, format }),
        // Long enough for an agent that restarts in the midst of it: some 25 s.
        retry: { attempts: 8 },
        undo: {
          verb: instanceCoreDumpAbsent,
          node: (c) => c.out.begin?.hostId,
          args: ({ input: { instanceId, dumpId } }) => ({ instanceId, dumpId }),
        },
      })
      .tx('settle', {
        title: 'Dumped',
        run: async (c) => {
          const { instanceId, userId } = c.input;
          const { dump, instance } = c.out['dump-vmm'];
          await steps.settle(c.op, instanceId, c.taskId, instance);
          const { id: coreDumpId, bytes, format } = dump;
          const changed = await steps.require(c.op, instanceId);
          await events.coreDump(c.op, 'core-dumped', changed, { coreDumpId, userId, bytes, format });
          return {};
        },
        noUndo: 'it is the last step',
      });
  }
}
