import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { instanceSeed } from '../../contract/instance.verbs';
import { seedOf } from '../instances/asked-of-host';
import { InstanceRepository } from '../instances/instance.repository';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';
import { beginOnHost } from './verb-steps';

/** `before`: what the instance had, which holds again when its host cannot be told. `project`: its name. */
const input = z.strictObject({
  instanceId: field.id,
  project: z.string(),
  before: z.record(z.string(), z.string()),
});
type Input = z.output<typeof input>;

/** The metadata that is recorded comes to the host, where the guest reads it; undone, both have what was before. */
@injectable()
export class TellMetadataWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps, instances: InstanceRepository) {
    super();
    this.definition = defineWorkflow<Input>('instance.tell-metadata', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '5m',
      whenUndone: async (c, error) => {
        // Also where nothing began: the request has recorded it.
        await instances.update(c.op, c.input.instanceId, { metadata: c.input.before });
        await steps.release(c.op, c.input.instanceId, c.taskId, error.message);
      },
    })
      .tx('begin', beginOnHost(steps))
      .remote('seed', {
        title: 'Give the host the metadata',
        verb: instanceSeed,
        node: (c) => c.out.begin?.hostId,
        args: async (c) => seedOf(await steps.require(c.op, c.input.instanceId), c.input.project),
        retry: { attempts: 3 },
        undo: {
          verb: instanceSeed,
          node: (c) => c.out.begin?.hostId,
          args: async (c) => {
            const instance = await steps.require(c.op, c.input.instanceId);
            return seedOf({ ...instance, metadata: c.input.before }, c.input.project);
          },
        },
      })
      .tx('settle', {
        title: 'Told',
        run: async (c) => {
          await steps.release(c.op, c.input.instanceId, c.taskId, null);
          return {};
        },
        noUndo: 'it is the last step',
      });
  }
}
