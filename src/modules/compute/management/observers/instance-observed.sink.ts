import { injectable } from 'inversify';
import { z } from 'zod';
import type { Op } from '../../../../core/db/rows/op';
import { ObservedSink } from '../../../../core/m2m/reports/observed';
import { observedInstance, type ObservedInstance } from '../../contract/instance.verbs';
import { InstanceEvents } from '../instances/instance.events';
import { InstanceRepository } from '../instances/instance.repository';

/** What hosts see becomes what users see: management never assumes a state that no host reported. */
@injectable()
export class InstanceObservedSink extends ObservedSink<ObservedInstance[]> {
  readonly section = 'instances';
  readonly schema = z.array(observedInstance).max(10_000);

  constructor(
    private readonly instances: InstanceRepository,
    private readonly events: InstanceEvents,
  ) {
    super();
  }

  override async accept(op: Op, hostId: string, data: ObservedInstance[]): Promise<void> {
    await this.events.observed(op, await this.instances.observe(op, hostId, data));
  }
}
