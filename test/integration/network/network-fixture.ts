import { randomUUID } from 'node:crypto';
import { permissionsOf } from '../../../src/core/app/declarations';
import { PermissionCatalogue } from '../../../src/core/auth/permissions/permission-catalogue';
import { hostModule } from '../../../src/modules/host/host.module';
import { identityModule } from '../../../src/modules/identity/identity.module';
import { networkModule } from '../../../src/modules/network/network.module';
import type { Access } from '../../../src/core/auth/access';
import type { Permission } from '../../../src/core/auth/permissions/permissions';
import { Config } from '../../../src/core/config/config';
import { coreConfigSchema } from '../../../src/core/config/core-config';
import type { Op } from '../../../src/core/db/rows/op';
import { Outbox, type LiveEvent } from '../../../src/core/events/outbox';
import { Projects } from '../../../src/modules/identity/contract/identity.ports';
import { createNetwork } from '../../../src/modules/network/contract/network.api';
import { networkConfigSchema } from '../../../src/modules/network/contract/network.config';
import { AddressRepository } from '../../../src/modules/network/management/ports/address.repository';
import { StaleHostsReconciler } from '../../../src/modules/network/management/reconcilers/stale-hosts.reconciler';
import { GuestEgressAgreement } from '../../../src/modules/network/management/hosts/guest-egress-agreement';
import { GuestEgressSettingRepository } from '../../../src/modules/network/management/hosts/guest-egress-setting.repository';
import { HostGenerationRepository } from '../../../src/modules/network/management/hosts/host-generation.repository';
import { HostSync } from '../../../src/modules/network/management/hosts/host-sync.service';
import { networkEntities } from '../../../src/modules/network/management/network.entities';
import { NetworkEvents } from '../../../src/modules/network/management/networks/network.events';
import type { WantedNic } from '../../../src/modules/network/contract/network.ports';
import { NetworkObservedSink } from '../../../src/modules/network/management/observers/network-observed.sink';
import { NetworkRepository } from '../../../src/modules/network/management/networks/network.repository';
import { NetworkService } from '../../../src/modules/network/management/networks/network.service';
import { PortRepository } from '../../../src/modules/network/management/ports/port.repository';
import { PostgresInstancePorts } from '../../../src/modules/network/management/ports/postgres-instance-ports';
import { SyncHostWorkflow } from '../../../src/modules/network/management/workflows/sync-host.workflow';
import {
  HostConditionNotes,
  Hosts,
  type HostConditionFact,
  type SchedulableHost,
} from '../../../src/modules/host/contract/host.ports';
import { RouterRepository } from '../../../src/modules/network/management/routers/router.repository';
import { RouterService } from '../../../src/modules/network/management/routers/router.service';
import { SubnetService } from '../../../src/modules/network/management/subnets/subnet.service';
import { SubnetRepository } from '../../../src/modules/network/management/subnets/subnet.repository';
import { OverlayRepository } from '../../../src/modules/network/management/overlay/overlay.repository';
import { OverlaySync } from '../../../src/modules/network/management/overlay/overlay-sync.service';
import { UnderlayRepository } from '../../../src/modules/network/management/overlay/underlay.repository';
import { BehindHosts } from '../../../src/modules/network/management/security-groups/behind-hosts';
import { GroupMembersRepository } from '../../../src/modules/network/management/security-groups/group-members.repository';
import { PortGroups } from '../../../src/modules/network/management/security-groups/port-groups';
import { PortUpdateService } from '../../../src/modules/network/management/security-groups/port-update.service';
import { SecurityGroupEvents } from '../../../src/modules/network/management/security-groups/security-group.events';
import { SecurityGroupRepository } from '../../../src/modules/network/management/security-groups/security-group.repository';
import { SecurityGroupRuleRepository } from '../../../src/modules/network/management/security-groups/security-group-rule.repository';
import { SecurityGroupService } from '../../../src/modules/network/management/security-groups/security-group.service';
import { HealthChecks } from '../../../src/core/http/server/health-checks';
import { GuestEgress } from '../../../src/modules/network/management/hosts/guest-egress';
import { quietLogging } from '../../support/workflow-harness';
import { RecordedWorkflows } from '../../support/recorded-workflows';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';

class RecordedOutbox extends Outbox {
  readonly events: LiveEvent[] = [];

  override publish(_op: Op, event: LiveEvent): Promise<void> {
    this.events.push(event);
    return Promise.resolve();
  }
}

class NotedConditions extends HostConditionNotes {
  private readonly noted = new Map<string, HostConditionFact[]>();

  of(hostId: string): HostConditionFact[] {
    return this.noted.get(hostId) ?? [];
  }

  override note(_op: Op, hostId: string, fact: HostConditionFact): Promise<void> {
    this.noted.set(hostId, [fact]);
    return Promise.resolve();
  }
}

class AnyProject extends Projects {
  override hold(): Promise<void> {
    return Promise.resolve();
  }

  override names(): Promise<Map<string, string>> {
    return Promise.resolve(new Map());
  }
}

/** Hosts that are ready, at addresses of a documentation network. */
class ReadyHosts extends Hosts {
  readonly hosts: { id: string; address: string }[] = [];
  /** By id. */
  readonly silent = new Set<string>();

  override all(): Promise<SchedulableHost[]> {
    return Promise.resolve(
      this.hosts.map(
        (host) =>
          ({ ...host, name: host.id, state: this.silent.has(host.id) ? 'unknown' : 'ready' }) as SchedulableHost,
      ),
    );
  }

  override byId(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  override names(): Promise<Map<string, string>> {
    return Promise.resolve(new Map());
  }
}

const permissions = new PermissionCatalogue(permissionsOf([networkModule, identityModule, hostModule]));

/** The management half of the network module alone, on a database of its own. */
export class NetworkFixture {
  readonly outbox = new RecordedOutbox();
  readonly workflows = new RecordedWorkflows();
  readonly service: NetworkService;
  readonly subnetService: SubnetService;
  readonly routerService: RouterService;
  readonly ports: PostgresInstancePorts;
  readonly groups: SecurityGroupService;
  readonly portUpdates: PortUpdateService;
  readonly sink: NetworkObservedSink;
  readonly generations = new HostGenerationRepository();
  readonly overlays = new OverlayRepository();
  readonly underlays = new UnderlayRepository();
  readonly live: string[] = [];
  readonly overlaySync: OverlaySync;
  readonly sync: HostSync;
  readonly hosts = new ReadyHosts();
  readonly reconciler: StaleHostsReconciler;
  readonly health = new HealthChecks();
  readonly conditions = new NotedConditions();

  private constructor(
    readonly db: TestDatabase,
    cooldownSeconds: number,
  ) {
    const config = new Config(coreConfigSchema.parse({}), { network: networkConfigSchema.parse({ cooldownSeconds }) });
    const networks = new NetworkRepository();
    const ports = new PortRepository();
    const egress = new GuestEgress(this.hosts, config);
    const subnets = new SubnetRepository();
    const routers = new RouterRepository();
    const groups = new SecurityGroupRepository();
    const members = new GroupMembersRepository();
    const behind = new BehindHosts(groups);
    const portGroups = new PortGroups(groups, members, behind, config);
    this.ports = new PostgresInstancePorts(
      networks,
      subnets,
      routers,
      ports,
      new AddressRepository(),
      this.generations,
      egress,
      portGroups,
      config,
      this.overlays,
    );
    this.sync = new HostSync(this.workflows, new SyncHostWorkflow(this.ports, this.generations), ports);
    this.groups = new SecurityGroupService(
      groups,
      new SecurityGroupRuleRepository(),
      new SecurityGroupEvents(this.outbox),
      portGroups,
      behind,
      new AnyProject(),
      config,
    );
    this.portUpdates = new PortUpdateService(ports, members, portGroups, behind);
    this.service = new NetworkService(
      networks,
      subnets,
      routers,
      ports,
      new NetworkEvents(this.outbox),
      new AnyProject(),
      portGroups,
      this.sync,
      config,
    );
    const events = new NetworkEvents(this.outbox);
    this.subnetService = new SubnetService(subnets, networks, routers, events, this.sync, config);
    this.routerService = new RouterService(routers, subnets, events, new AnyProject(), this.sync);
    this.sink = new NetworkObservedSink(this.generations, ports, this.conditions, this.underlays);
    this.overlaySync = new OverlaySync(
      db.database,
      this.hosts,
      this.underlays,
      this.overlays,
      this.sync,
      {
        live: (tasks) =>
          Promise.resolve(Object.fromEntries(tasks.filter((t) => this.live.includes(t)).map((t) => [t, 1]))),
      },
      this.conditions,
      quietLogging(),
    );
    this.reconciler = new StaleHostsReconciler(db.database, this.hosts, egress, this.generations, this.sync);
  }

  /** Of one more management process with this setting. */
  agreement(guestEgress: object = {}, health = this.health): GuestEgressAgreement {
    const config = new Config(coreConfigSchema.parse({}), { network: networkConfigSchema.parse({ guestEgress }) });
    return new GuestEgressAgreement(
      this.db.database,
      new GuestEgressSettingRepository(),
      config,
      health,
      quietLogging(),
    );
  }

  static async start(options: { cooldownSeconds?: number } = {}): Promise<NetworkFixture> {
    const db = await startTestDatabase({
      entities: networkEntities,
      pool: 60,
    });
    return new NetworkFixture(db, options.cooldownSeconds ?? 60);
  }

  access(projectId: string, permission: Permission = 'network:read', systemRoles: 'admin'[] = []): Access {
    return permissions.access(
      {
        kind: 'user',
        id: randomUUID(),
        name: 'u',
        systemRoles,
        memberships: [{ projectId, role: 'member' }],
        sessionId: 's',
        via: 'session',
        tokenScopes: null,
      },
      permission,
    );
  }

  create(
    projectId: string,
    input: { name: string; subnet?: string; gateway?: string; dns?: string[]; nat?: boolean },
    within?: Op,
  ): ReturnType<NetworkService['create']> {
    return this.db.database.tx((op) => this.service.create(op, projectId, createNetwork.parse(input)), within);
  }

  allocate(
    projectId: string,
    nics: WantedNic[],
    instanceId: string = randomUUID(),
    hostId: string = randomUUID(),
  ): ReturnType<PostgresInstancePorts['allocate']> {
    return this.db.database.tx((op) =>
      this.ports.allocate(op, { instanceId, projectId, hostname: `h-${instanceId.slice(0, 8)}`, hostId, nics }),
    );
  }

  release(instanceId: string): Promise<void> {
    return this.db.database.tx((op) => this.ports.release(op, instanceId));
  }

  /** Tasks that were started last to tell hosts of changes on others. */
  async lastTasks(): Promise<string[]> {
    const rows = await this.db.database.query<{ task: string }>(
      'SELECT sync_task AS task FROM host_underlay WHERE sync_task IS NOT NULL',
    );
    return rows.map(({ task }) => task);
  }

  /** Pretends that all cooldowns are over. */
  async coolDown(): Promise<void> {
    await this.db.database.query(`UPDATE address_cooldown SET until = now() - interval '1 second'`);
  }
}
