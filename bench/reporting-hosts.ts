import 'reflect-metadata';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { configSchemasOf } from '../src/core/app/declarations';
import { buildVersion } from '../src/core/config/build-version';
import { loadConfig } from '../src/core/config/config-loader';
import { StatePaths } from '../src/core/config/state-paths';
import { HeartbeatService } from '../src/core/m2m/node/heartbeat.service';
import { HttpsManagementClient } from '../src/core/m2m/node/https-management-client';
import { ManagementAddresses } from '../src/core/m2m/node/management-addresses';
import { NodeIdentity } from '../src/core/m2m/node/node-identity';
import { RevisionsSource } from '../src/core/m2m/node/revisions.source';
import { ObservedSource } from '../src/core/m2m/reports/observed';
import { createLogger } from '../src/core/telemetry/create-logger';
import { Logging } from '../src/core/telemetry/logging';
import { allModules } from '../src/modules/all-modules';
import type { ObservedInstance } from '../src/modules/compute/contract/instance.verbs';
import type { Inventory } from '../src/modules/host/contract/host.api';
import { inLanes } from './harness/statistics';

/** One host per token, its files below `directory`. Later messages say what runs on each host, by its id. */
const order = z.object({ directory: z.string(), tokens: z.array(z.string()) });
const instancesOf = z.record(z.string(), z.array(z.string()));
const startAtOnce = 8;
const gib = 2 ** 30;
/** Free space in pools changes about so often on a host at work; that is when its inventory is sent anew. */
const inventoryMs = 60_000;

class Section extends ObservedSource {
  constructor(
    readonly section: string,
    private readonly told: () => unknown,
  ) {
    super();
  }

  override collect(): Promise<unknown> {
    return Promise.resolve(this.told());
  }
}

const inventory = (name: string, freeBytes: number): Inventory => ({
  hostname: name,
  kernel: '6.1.0',
  architecture: 'x86_64',
  cpu: {
    model: 'bench',
    flags: Array.from({ length: 100 }, (_, i) => `flag${i}`),
    threads: 64,
    numaNodes: 1,
  },
  memory: { totalBytes: 256 * gib, hugepages: [] },
  disks: [{ name: 'sda', sizeBytes: 1024 * gib, model: 'bench', rotational: false }],
  nics: [{ name: 'eth0', mac: '02:00:00:00:00:01', mtu: 1500, speedMbit: 10_000, up: true }],
  pools: [{ name: 'default', driver: 'local', totalBytes: 1024 * gib, freeBytes }],
  vmms: [{ kind: 'qemu', version: '9.0', accel: 'kvm', usable: true, reason: '', capabilities: ['serial'] }],
  agentVersion: buildVersion,
  cgroup: { version: 2, controllers: ['cpu', 'memory', 'pids', 'io'] },
  complete: true,
});

/** The part of an agent that joins and reports: what its heartbeats cost management does not depend on the rest. */
class ReportingHost {
  private instances: ObservedInstance[] = [];

  private constructor(
    private readonly identity: NodeIdentity,
    private readonly heartbeat: HeartbeatService,
  ) {}

  static async start(directory: string, index: number, token: string): Promise<ReportingHost> {
    const name = `rep${String(index).padStart(4, '0')}`;
    const state = join(directory, name);
    mkdirSync(state, { recursive: true });
    const config = await loadConfig({
      modules: await configSchemasOf(allModules),
      env: { VC_STACK_LOG__LEVEL: 'warn' },
    });
    const logging = new Logging(createLogger(config));
    const addresses = new ManagementAddresses(config);
    const identity = new NodeIdentity(new StatePaths(state, state), logging, addresses);
    await identity.ensure(token, { name, address: '127.0.0.1', port: 1 });
    const heartbeat = new HeartbeatService(
      new HttpsManagementClient(identity, addresses, config),
      identity,
      config,
      logging,
    );
    const host = new ReportingHost(identity, heartbeat);
    const revisions = new RevisionsSource();
    const offset = Math.random() * inventoryMs;
    const sources = [
      new Section('inventory', () =>
        inventory(name, 512 * gib - (Math.floor((Date.now() + offset) / inventoryMs) % 1_000)),
      ),
      new Section('instances', () => host.instances),
      new Section('network', () => ({ generation: -1, failed: [], unknownMachines: [] })),
    ];
    revisions.register({}, sources);
    heartbeat.register([revisions, ...sources]);
    // As if they had been started at different times.
    setTimeout(() => heartbeat.start({ address: '127.0.0.1', port: 1 }), Math.random() * config.core.m2m.heartbeatMs);
    return host;
  }

  get id(): string {
    return this.identity.current().hostId;
  }

  runs(ids: readonly string[]): void {
    const startedAt = new Date().toISOString();
    this.instances = ids.map((instanceId) => ({
      instanceId,
      generation: 1,
      state: 'running',
      reason: '',
      vmm: 'qemu',
      startedAt,
      revision: 1,
      exit: null,
      guest: null,
      dedicatedCpus: null,
    }));
    this.heartbeat.changed('instances');
  }

  stop(): Promise<void> {
    return this.heartbeat.stop();
  }
}

const hosts: ReportingHost[] = [];
for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const)
  process.once(event, () => {
    setTimeout(() => process.exit(1), 5_000).unref();
    void Promise.allSettled(hosts.map((host) => host.stop())).then(() => process.exit(0));
  });

process.once('message', (message) => {
  const { directory, tokens } = order.parse(message);
  process.on('message', (later) => {
    const ids = instancesOf.parse(later);
    for (const host of hosts) host.runs(ids[host.id] ?? []);
  });
  inLanes(tokens.length, startAtOnce, async (index) => {
    hosts.push(await ReportingHost.start(directory, index, tokens[index] ?? ''));
  }).then(
    () => process.send?.('started'),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      process.exit(1);
    },
  );
});
