import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { hostTest } from '../../contract/host.verbs';

const input = z.strictObject({ hostId: field.id });
type Input = z.output<typeof input>;

/**
 * Has a host try its virtual machine monitors anew. What came of it is in the step's output, and in the inventory that
 * the host reports with its next heartbeat. Without a lock: two tests of a host at once share their trials.
 */
@injectable()
export class TestHostWorkflow extends Workflow<Input> {
  readonly definition;

  constructor() {
    super();
    this.definition = defineWorkflow<Input>('host.test', { version: 1, input, deadline: '10m' }).remote('try-vmms', {
      title: 'Boot a trial guest on each virtual machine monitor',
      verb: hostTest,
      node: (c) => c.input.hostId,
      args: () => ({}),
      retry: { attempts: 3 },
      noUndo: 'a trial leaves nothing behind',
    });
  }
}
