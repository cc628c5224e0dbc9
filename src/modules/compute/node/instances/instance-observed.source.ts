import { injectable } from 'inversify';
import { ObservedSource } from '../../../../core/m2m/reports/observed';
import type { ObservedInstance } from '../../contract/instance.verbs';
import { InstanceManager } from './instance.manager';

@injectable()
export class InstanceObservedSource extends ObservedSource {
  readonly section = 'instances';

  constructor(private readonly instances: InstanceManager) {
    super();
  }

  override async collect(): Promise<ObservedInstance[]> {
    return this.instances.list();
  }
}
