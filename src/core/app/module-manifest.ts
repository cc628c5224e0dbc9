import type { ContainerModuleLoadOptions, Newable } from 'inversify';
import type { z } from 'zod';
import type { PermissionTable } from '../auth/permissions/permission-catalogue';
import type { CliRegistrar } from '../cli/cli-context';
import type { HintTable } from '../errors/problem-hints';
import type { Controller } from '../http/routes/route';
import type { Service } from '../lifecycle/service';
import type { SocketRoutes } from '../http/sockets/socket-route';
import type { HostConditionTable } from '../m2m/reports/host-condition-types';
import type { NodeRoutes, StreamHandlers } from '../m2m/management/node-route';
import type { InventoryTable } from '../m2m/reports/inventory-table';
import type { ObservedSink, ObservedSource } from '../m2m/reports/observed';
import type { AnyVerb } from '../m2m/verbs/verb';
import type { VerbHandlers } from '../m2m/verbs/verb-handler';
import type { PeriodicWorks } from '../periodic/periodic-work';
import type { Scenarios } from '../testing/scenario';
import type { MetricTable } from '../telemetry/declared-metrics';
import type { AnyWorkflow } from '../workflow/definition/definition';

/** Node half: takes everything of this module off the host. Nothing else of the agent runs meanwhile. */
export abstract class HostRemoval {
  abstract removeAll(): Promise<void>;
}

export interface ManagementWiring {
  bind: (options: ContainerModuleLoadOptions) => void;
  controllers?: Newable<Controller>[];
  sockets?: Newable<SocketRoutes>[];
  workflows?: Newable<AnyWorkflow>[];
  nodeRoutes?: Newable<NodeRoutes>[];
  observed?: Newable<ObservedSink>[];
  services?: Newable<Service>[];
  periodic?: Newable<PeriodicWorks>[];
}

export interface NodeWiring {
  bind: (options: ContainerModuleLoadOptions) => void;
  verbs?: Newable<VerbHandlers>[];
  streams?: Newable<StreamHandlers>[];
  observed?: Newable<ObservedSource>[];
  services?: Newable<Service>[];
  periodic?: Newable<PeriodicWorks>[];
  removals?: Newable<HostRemoval>[];
}

/**
 * What a module is: all that others would else list by its nouns. No logic, only plain data and dynamic imports: a role
 * that is not running, and the client, load none of its code. `bind` binds every class that the wiring names; all are
 * singletons. What two modules declare under one name keeps the process from starting.
 */
export interface ModuleManifest {
  name: string;
  /** Modules that must be there, and start before this one. */
  needs: string[];
  /** The permissions that its routes and services ask for, each with the narrowest built-in role that has it. */
  permissions?: PermissionTable;
  /** Codes of the failures that its tasks end with, and what to do about each. */
  problems?: HintTable;
  /**
   * Live events that it publishes: `<noun>.<created|updated|deleted>`. Whoever has the noun's permission to read sees
   * them, so there must be one.
   */
  events?: readonly `${string}.${string}`[];
  /** The conditions of hosts that it alone writes, and what each is for. */
  hostConditions?: HostConditionTable;
  /** The verbs of its contract: all that management may call on a host for it, each with a handler of its node half. */
  verbs?: () => Promise<readonly AnyVerb[]>;
  /** Its own figures on `/metrics`. */
  metrics?: MetricTable;
  /** Its parts of every host's inventory: how they are read, and shown to people. */
  inventory?: () => Promise<InventoryTable>;
  /** The module's own section of the configuration, by its name. */
  config?: () => Promise<z.ZodType>;
  entities?: () => Promise<Newable<object>[]>;
  management?: () => Promise<ManagementWiring>;
  node?: () => Promise<NodeWiring>;
  /** Its commands of the client. @param declared what modules add to the answers of others */
  commands?: (declared: { inventory: () => Promise<InventoryTable> }) => Promise<CliRegistrar>;
  /** How each of its workflows is brought about, for the tests of chaos. Only they load it, and no release carries it. */
  scenarios?: () => Promise<Scenarios>;
}
