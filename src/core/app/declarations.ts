import type { PermissionTable } from '../auth/permissions/permission-catalogue';
import type { Permission } from '../auth/permissions/permissions';
import { coreHints, type HintTable } from '../errors/problem-hints';
import type { CliRegistrar } from '../cli/cli-context';
import type { ModuleSchemas } from '../config/schema-tree';
import type { HostConditionTable } from '../m2m/reports/host-condition-types';
import type { InventoryTable } from '../m2m/reports/inventory-table';
import type { AnyVerb } from '../m2m/verbs/verb';
import type { MetricTable } from '../telemetry/declared-metrics';
import type { Scenarios } from '../testing/scenario';
import type { ModuleManifest } from './module-manifest';

/**
 * One table of what several declare, by name. Throws when two declare the same, and names both: whichever came last
 * would win otherwise.
 */
const declaredOnce = <T>(what: string, declared: readonly (readonly [by: string, name: string, T])[]) => {
  const owners = new Map<string, string>();
  const table: Record<string, T> = {};
  for (const [by, name, value] of declared) {
    const owner = owners.get(name);
    if (owner !== undefined) throw new Error(`the ${what} "${name}" is declared by "${owner}" and by "${by}"`);
    owners.set(name, by);
    table[name] = value;
  }
  return table;
};

const each = <T>(
  modules: readonly ModuleManifest[],
  pick: (manifest: ModuleManifest) => Readonly<Record<string, T>> | undefined,
): (readonly [string, string, T])[] =>
  modules.flatMap((m) => Object.entries(pick(m) ?? {}).map(([name, value]) => [m.name, name, value] as const));

/** Throws when two modules declare the same permission. */
export const permissionsOf = (modules: readonly ModuleManifest[]): PermissionTable =>
  declaredOnce(
    'permission',
    each(modules, (m) => m.permissions),
  );

/** Core's own hints and the modules'. Throws when a problem code is declared twice. */
export const hintsOf = (modules: readonly ModuleManifest[]): HintTable =>
  declaredOnce('problem code', [
    ...Object.entries(coreHints).map(([code, hint]) => ['core', code, hint] as const),
    ...each(modules, (m) => m.problems),
  ]);

/**
 * Those of the modules that are nearest to users come first: what they miss is told first. Throws when two modules own
 * the same condition.
 */
export const hostConditionsOf = (modules: readonly ModuleManifest[]): HostConditionTable =>
  declaredOnce(
    'host condition',
    each(modules.toReversed(), (m) => m.hostConditions),
  );

/**
 * Audits the events that modules publish. Throws for one that two declare, and for one whose noun nobody has the
 * permission to read: no user would ever be told.
 */
export const auditEvents = (modules: readonly ModuleManifest[]): void => {
  const permissions = permissionsOf(modules);
  const events = declaredOnce(
    'event',
    modules.flatMap((m) => (m.events ?? []).map((event) => [m.name, event, m.name] as const)),
  );
  for (const [event, by] of Object.entries(events)) {
    const reading: Permission = `${event.split('.')[0] ?? ''}:read`;
    if (!Object.hasOwn(permissions, reading))
      throw new Error(`"${by}" publishes "${event}", but no module declares the permission "${reading}"`);
  }
};

/** The parts of every host's inventory, those of modules nearest to users first. Throws when two modules declare the same. */
export const inventoryOf = async (modules: readonly ModuleManifest[]): Promise<InventoryTable> =>
  declaredOnce(
    'part of the inventory',
    (
      await Promise.all(
        modules
          .toReversed()
          .map(async (m) =>
            Object.entries((await m.inventory?.()) ?? {}).map(([part, form]) => [m.name, part, form] as const),
          ),
      )
    ).flat(),
  );

/** The modules' own figures. Throws when two declare the same. */
export const metricsOf = (modules: readonly ModuleManifest[]): MetricTable =>
  declaredOnce(
    'metric',
    each(modules, (m) => m.metrics),
  );

/** The verbs of all modules, by name. Throws when two declare the same. */
export const verbsOf = async (modules: readonly ModuleManifest[]): Promise<Readonly<Record<string, AnyVerb>>> =>
  declaredOnce(
    'verb',
    (
      await Promise.all(
        modules.map(async (m) => ((await m.verbs?.()) ?? []).map((verb) => [m.name, verb.name, verb] as const)),
      )
    ).flat(),
  );

/** A workflow, as far as it says what it calls. */
export interface CallingWorkflow {
  readonly type: string;
  readonly steps: readonly { name: string; verb?: AnyVerb; undo?: unknown }[];
}

/** Throws for a step that calls a verb which no module declares: no agent would know it. */
export const auditCalls = (workflows: readonly CallingWorkflow[], verbs: Readonly<Record<string, AnyVerb>>): void => {
  for (const { type, steps } of workflows)
    for (const { name, verb, undo } of steps)
      for (const called of [verb, (undo as { verb?: AnyVerb } | undefined)?.verb])
        if (called !== undefined && verbs[called.name] !== called)
          throw new Error(`the step "${name}" of "${type}" calls "${called.name}", which no module declares`);
};

/** The sections of the configuration, by module. */
export const configSchemasOf = async (modules: readonly ModuleManifest[]): Promise<ModuleSchemas> =>
  Object.fromEntries(
    await Promise.all(modules.flatMap((m) => (m.config ? [m.config().then((schema) => [m.name, schema])] : []))),
  );

/** The client's commands in the order of its help: what users ask for first is the last of the modules. */
export const commandsOf = (modules: readonly ModuleManifest[]): Promise<CliRegistrar[]> =>
  Promise.all(
    modules.toReversed().flatMap((m) => (m.commands ? [m.commands({ inventory: () => inventoryOf(modules) })] : [])),
  );

/** For the tests of chaos. Throws when two modules have one for the same workflow. */
export const scenariosOf = async (modules: readonly ModuleManifest[]): Promise<Scenarios> =>
  declaredOnce(
    'scenario',
    (
      await Promise.all(
        modules.map(async (m) =>
          Object.entries((await m.scenarios?.()) ?? {}).map(([type, scenario]) => [m.name, type, scenario] as const),
        ),
      )
    ).flat(),
  );
