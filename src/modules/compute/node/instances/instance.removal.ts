import { injectable } from 'inversify';
import { HostRemoval } from '../../../../core/app/module-manifest';
import { InstanceManager } from './instance.manager';

/** Ends every guest of this host and removes its files. */
@injectable()
export class InstanceRemoval extends HostRemoval {
  constructor(private readonly instances: InstanceManager) {
    super();
  }

  override removeAll(): Promise<void> {
    return this.instances.removeAll();
  }
}
