import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { InstancePorts } from '../../contract/network.ports';
import { HostGenerationRepository } from '../hosts/host-generation.repository';
import { applyNetwork } from '../../contract/network.steps';

const input = z.strictObject({ hostId: field.id });
type Input = z.output<typeof input>;

/** Gives a host its newest document, outside of any instance's workflow. */
@injectable()
export class SyncHostWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(ports: InstancePorts, generations: HostGenerationRepository) {
    super();
    this.definition = defineWorkflow<Input>('host.sync-network', {
      version: 1,
      input,
      deadline: '10m',
      priority: 'background',
    })
      .remote(
        'apply-network',
        applyNetwork(ports, (c) => c.input.hostId, 'the host goes on to the newest document whatever happens'),
      )
      .tx('record-ports', {
        title: 'Record what the host reports',
        run: async (c) => {
          const { generation } = c.out['apply-network'];
          await generations.report(c.op, c.input.hostId, generation);
          await ports.applied(c.op, c.out['apply-network']);
          return {};
        },
        noUndo: 'it is an observation',
      });
  }
}
