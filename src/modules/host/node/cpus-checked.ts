import { injectable } from 'inversify';
import { Service } from '../../../core/lifecycle/service';
import { dedicatedCpus, sharedCpus } from '../contract/cpu-topology';
import { MachineCpus } from './machine-cpus';

/** An agent that would leave no CPU for its host and for instances that share does not start. */
@injectable()
export class CpusChecked extends Service {
  constructor(private readonly cpus: MachineCpus) {
    super();
  }

  override async start(): Promise<void> {
    if (this.cpus.dedicated().length === 0) return;
    const topology = await this.cpus.topology();
    if (sharedCpus(topology).length === 0)
      throw new Error(
        `modules.host.dedicatedCpus: all ${dedicatedCpus(topology).length} CPUs are set aside for instances of their own; leave one at least for the host itself`,
      );
  }

  override async stop(): Promise<void> {
    await Promise.resolve();
  }
}
