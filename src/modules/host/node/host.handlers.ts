import { injectable } from 'inversify';
import { handle, VerbHandlers, type VerbHandler } from '../../../core/m2m/verbs/verb-handler';
import { hostTest } from '../contract/host.verbs';
import { HostInventorySource } from './inventory.source';

@injectable()
export class HostHandlers extends VerbHandlers {
  constructor(private readonly inventory: HostInventorySource) {
    super();
  }

  override handlers(): VerbHandler[] {
    return [handle(hostTest, () => this.inventory.test())];
  }
}
