import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import type { z } from 'zod';
import { Config } from '../../../../core/config/config';
import { coreConfigSchema } from '../../../../core/config/core-config';
import { StatePaths } from '../../../../core/config/state-paths';
import { RecordProblems } from '../../../../core/host/records/record-problems';
import { Logging } from '../../../../core/telemetry/logging';
import { computeConfigSchema } from '../../contract/compute.config';
import { CoreDumpCalls } from '../core-dumps/core-dump-calls';
import { CoreDumpStore } from '../core-dumps/core-dump-store';
import { InstanceCoreDumps } from '../core-dumps/instance-core-dumps';
import { ConsoleHub } from '../consoles/console.hub';
import type { VmmDriver } from '../drivers/vmm-driver';
import type { VmmDrivers } from '../drivers/vmm-drivers';
import type { ConfigDrives } from '../seeds/config-drive';
import { InstanceLeftovers } from '../leftovers/instance-leftovers';
import type { HostNode } from '../../../host/contract/cpu-topology';
import { InstanceCpus } from './instance-cpus';
import { InstanceMachines } from './instance-machines';
import { InstanceRecords } from './instance-records';
import { InstanceRestarts } from './instance-restarts';
import { InstanceBalloons } from './instance-balloons';
import { InstanceSizes } from './instance-sizes';
import { InstanceSuspension } from './instance-suspension';
import { KeptMemory } from './kept-memory';
import { InstanceStore } from './instance-store';
import { InstanceUsers } from './instance-users';
import { InstanceManager } from './instance.manager';
import type { MapDriver } from './map-driver-suite';
import { StartsAfterBoot } from './starts-after-boot';
import { HostShares } from '../shares/host-shares';
import { VmSpecs } from './vm-specs';

/** The node half of instances on files of its own, without a host: agents come and go, machines stay. */
export class AgentsOfAHost {
  readonly directory = mkdtempSync(join(tmpdir(), 'vcs-manager-'));
  private readonly logging = new Logging(pino({ level: 'silent' }));
  readonly problems = new RecordProblems(this.logging);
  readonly store = new InstanceStore(
    new StatePaths(join(this.directory, 'state'), join(this.directory, 'run')),
    this.problems,
  );
  /** Section `modules.compute` of its agents. */
  section: z.input<typeof computeConfigSchema> = {};
  /** Of the newest agent. */
  afterBoot: StartsAfterBoot | undefined;
  /** Of the newest agent. */
  sizes: InstanceSizes | undefined;
  /** Of the newest agent. */
  balloons: InstanceBalloons | undefined;
  /** Of the newest agent. */
  leftovers: InstanceLeftovers | undefined;
  /** Of the newest agent. */
  dumps: CoreDumpCalls | undefined;
  /** NUMA nodes of the host. */
  nodes: HostNode[] = [];
  users = this.newUsers();
  /** Which instances have a config drive now. */
  readonly drives = {
    made: new Map<string, string>(),
    path: (id: string) => `/drives/${id}`,
    make: async (id: string, form: string) => void this.drives.made.set(id, form),
    remove: async (id: string) => void this.drives.made.delete(id),
  };

  agent(driver: MapDriver): InstanceManager {
    const drivers = {
      best: async () => driver as unknown as VmmDriver,
      byKind: () => driver as unknown as VmmDriver,
    } as unknown as VmmDrivers;
    this.users = this.newUsers();
    const records = new InstanceRecords(this.store, this.users);
    const drives = this.drives as unknown as ConfigDrives;
    const config = new Config(coreConfigSchema.parse({}), { compute: computeConfigSchema.parse(this.section) });
    const reporter = { changed: () => undefined };
    const kept = new KeptMemory(this.store);
    const machines = new InstanceMachines(
      config,
      records,
      this.store,
      this.users,
      new InstanceCpus({ topology: () => Promise.resolve({ nodes: this.nodes }) }),
      drivers,
      new VmSpecs(
        this.store,
        { of: async () => ({ netns: null, nics: [] }) },
        {
          locate: async () => ({ path: '/disk', format: 'raw' as const, bytes: 1 }),
          bootFiles: () => ({ kernel: '', initramfs: '' }),
          folders: async () => [],
          attach: async (_id, { volumeId }) => ({ path: `/attached/${volumeId}`, format: 'raw' as const, bytes: 1 }),
          keepOnly: async () => undefined,
          forget: async () => undefined,
        },
        drives,
        new HostShares(config),
      ),
      drives,
      kept,
      new ConsoleHub(this.logging),
      reporter,
      this.logging,
    );
    this.leftovers = new InstanceLeftovers(records, machines, this.store, drives);
    const restarts = new InstanceRestarts(config, records, machines, reporter, this.logging);
    this.afterBoot = new StartsAfterBoot(config, records, machines, reporter, this.logging);
    const suspension = new InstanceSuspension(records, machines);
    this.sizes = new InstanceSizes(config, records, machines, this.logging);
    this.balloons = new InstanceBalloons(config, records, machines, this.logging);
    const dumpStore = new CoreDumpStore(this.store, config);
    const dumps = new InstanceCoreDumps(records, machines, dumpStore, this.logging);
    const manager = new InstanceManager(
      records,
      machines,
      suspension,
      this.sizes,
      dumps,
      this.balloons,
      kept,
      restarts,
      this.afterBoot,
      this.logging,
    );
    this.dumps = new CoreDumpCalls(manager, records, dumps, dumpStore);
    return manager;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  private newUsers(): InstanceUsers {
    return new InstanceUsers(new Config(coreConfigSchema.parse({}), {}));
  }
}
