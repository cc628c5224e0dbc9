import { injectable } from 'inversify';
import { handle, VerbHandlers, type VerbHandler } from '../../../core/m2m/verbs/verb-handler';
import { hostLeftovers, hostRemoveLeftovers, hostTest } from '../contract/host.verbs';
import { HostInventorySource } from './inventory.source';
import { HostLeftovers } from './leftovers/host-leftovers';
import { LeftoversSource } from './leftovers/leftovers.source';

@injectable()
export class HostHandlers extends VerbHandlers {
  constructor(
    private readonly inventory: HostInventorySource,
    private readonly leftovers: HostLeftovers,
    private readonly told: LeftoversSource,
  ) {
    super();
  }

  override handlers(): VerbHandler[] {
    return [
      handle(hostTest, () => this.inventory.test()),
      handle(hostLeftovers, ({ only }) => this.leftovers.list(only)),
      handle(hostRemoveLeftovers, async ({ leftovers }) => {
        const outcome = await this.leftovers.remove(leftovers);
        this.told.lookAgain();
        return outcome;
      }),
    ];
  }
}
