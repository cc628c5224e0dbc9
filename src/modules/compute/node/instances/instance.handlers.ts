import { injectable } from 'inversify';
import { handle, VerbFailure, VerbHandlers, type VerbHandler } from '../../../../core/m2m/verbs/verb-handler';
import {
  instanceAbsent,
  instanceBalloon,
  instanceConsoleLog,
  instanceCoreDump,
  instanceCoreDumpAbsent,
  instanceCoreDumps,
  instanceDevices,
  instanceDisks,
  instanceEnsure,
  instanceGuestFiles,
  instanceMemory,
  instanceNmi,
  instancePause,
  instanceReboot,
  instanceResize,
  instanceScreenshot,
  instanceSeed,
  instanceSuspend,
} from '../../contract/instance.verbs';
import { GuestFiles } from '../../../network/contract/network.ports';
import { ConsoleHub } from '../consoles/console.hub';
import { CoreDumpCalls } from '../core-dumps/core-dump-calls';
import { InstanceScreens } from '../consoles/instance-screens';
import { InstanceBalloons } from './instance-balloons';
import { InstanceStore } from './instance-store';
import { InstanceDevices } from './instance-devices';
import { InstanceManager } from './instance.manager';
import { SeedStore } from '../seeds/seed.store';

@injectable()
export class InstanceHandlers extends VerbHandlers {
  constructor(
    private readonly instances: InstanceManager,
    private readonly devices: InstanceDevices,
    private readonly seeds: SeedStore,
    private readonly files: GuestFiles,
    private readonly hub: ConsoleHub,
    private readonly screens: InstanceScreens,
    private readonly store: InstanceStore,
    private readonly dumps: CoreDumpCalls,
    private readonly balloons: InstanceBalloons,
  ) {
    super();
  }

  override handlers(): VerbHandler[] {
    return [
      handle(instanceEnsure, (args, ctx) => this.instances.ensure(args, ctx.signal)),
      handle(instanceReboot, (args, ctx) =>
        this.instances.reboot(args.instanceId, args.force, args.graceSeconds, ctx.signal),
      ),
      handle(instancePause, (args, ctx) =>
        this.instances.setPaused(args.instanceId, args.generation, args.paused, ctx.signal),
      ),
      handle(instanceDevices, (args, ctx) => this.devices.bringCards(args, ctx.signal)),
      handle(instanceDisks, (args, ctx) => this.devices.bringDisks(args, ctx.signal)),
      handle(instanceResize, (args, ctx) => this.instances.resize(args, ctx.signal)),
      handle(instanceBalloon, (args, ctx) => this.instances.balloon(args.instanceId, args.memoryBytes, ctx.signal)),
      handle(instanceMemory, ({ instanceId }) => this.balloons.look(instanceId)),
      handle(instanceSuspend, (args, ctx) =>
        this.instances.setSuspended(args.instanceId, args.generation, args.suspended, ctx.signal),
      ),
      handle(instanceNmi, (args, ctx) => this.instances.nmi(args.instanceId, ctx.signal)),
      handle(instanceCoreDump, (args, ctx) => this.dumps.make(args, ctx)),
      handle(instanceCoreDumpAbsent, async ({ instanceId, dumpId }, ctx) => {
        await this.dumps.remove(instanceId, dumpId, ctx.signal);
        return {};
      }),
      handle(instanceCoreDumps, async ({ instanceId }) => ({ dumps: await this.dumps.list(instanceId) })),
      handle(instanceAbsent, async (args) => {
        await this.instances.remove(args.instanceId, args.generation);
        return {};
      }),
      handle(instanceGuestFiles, async ({ instanceId }) => {
        const seed = await this.seeds.of(instanceId);
        if (!seed) throw new VerbFailure('no_seed', 'This host was not given the metadata of the instance.', true);
        const password = await this.seeds.password(instanceId);
        const told = password === '' ? [] : [{ path: 'openstack/latest/password', content: Buffer.from(password) }];
        return {
          files: [...(await this.files.of(seed, 'openstack')), ...told].map(({ path, content }) => ({
            path,
            content: content.toString('base64'),
          })),
        };
      }),
      handle(instanceConsoleLog, async ({ instanceId, since }) => {
        if (!this.instances.has(instanceId))
          throw new VerbFailure('instance_absent', 'This host does not have the instance.', true);
        return this.hub.read(instanceId, this.store.directory(instanceId), since);
      }),
      handle(instanceScreenshot, async ({ instanceId }) => ({
        png: (await this.screens.shoot(instanceId)).toString('base64'),
      })),
      handle(instanceSeed, async (args) => {
        await this.seeds.save(args);
        return {};
      }),
    ];
  }
}
