import { injectable } from 'inversify';
import { handle, VerbHandlers, type VerbHandler } from '../../../core/m2m/verb-handler';
import { instanceAbsent, instanceEnsure, instanceReboot, instanceSeed } from '../contract/instance.verbs';
import { InstanceManager } from './instance.manager';
import { SeedStore } from './seed.store';

@injectable()
export class InstanceHandlers extends VerbHandlers {
  constructor(
    private readonly instances: InstanceManager,
    private readonly seeds: SeedStore,
  ) {
    super();
  }

  override handlers(): VerbHandler[] {
    return [
      handle(instanceEnsure, (args, ctx) => this.instances.ensure(args, ctx.signal)),
      handle(instanceReboot, (args, ctx) => this.instances.reboot(args.instanceId, args.force, args.graceSeconds, ctx.signal)),
      handle(instanceAbsent, async (args) => {
        await this.instances.remove(args.instanceId);
        return {};
      }),
      handle(instanceSeed, async (args) => {
        await this.seeds.save(args);
        return {};
      }),
    ];
  }
}
