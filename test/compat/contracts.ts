import { z } from 'zod';
import { nodeRevisions, revisionsSection } from '../../src/core/m2m/verbs/revisions';
import type { Verb } from '../../src/core/m2m/verbs/verb';
import { inventoryOf, verbsOf } from '../../src/core/app/declarations';
import { allModules } from '../../src/modules/all-modules';
import { observedInstance } from '../../src/modules/compute/contract/instance.verbs';
import { inventoryWith } from '../../src/modules/host/contract/host.api';
import { observedRecordProblems } from '../../src/modules/host/contract/record-problems.observed';
import { observedNetwork } from '../../src/modules/network/contract/network.observed';

type Schema = Record<string, unknown>;
export interface Contracts {
  verbs: Record<string, { revision: number; args: Schema; result: Schema }>;
  sections: Record<string, { schema: Schema }>;
}

/** What hosts report, as management reads it. */
export const sectionSchemas = async (): Promise<Readonly<Record<string, z.ZodType>>> => ({
  [revisionsSection]: nodeRevisions,
  inventory: inventoryWith(await inventoryOf(allModules)),
  instances: z.array(observedInstance),
  network: observedNetwork,
  records: observedRecordProblems,
});

/** Every verb of this build, by name. */
export const allVerbs = async (): Promise<Map<string, Verb>> => {
  // Manifests list them without their payload.
  const verbs = Object.values(await verbsOf(allModules)) as unknown as Verb[];
  return new Map(verbs.map((verb) => [verb.name, verb]));
};

/** Refuses every field that is not named, as those do who take them for mistakes. */
const strict = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== 'object' || schema === null) return schema;
  const all = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, strict(value)]));
  return all['properties'] === undefined ? all : { ...all, additionalProperties: false };
};

const json = (schema: z.ZodType): Schema => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });

/** What this build writes and reads, as JSON Schemas. */
export const contracts = async (): Promise<Contracts> => ({
  verbs: Object.fromEntries(
    [...(await allVerbs()).values()]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, revision, args, result }) => [
        name,
        { revision, args: strict(json(args)) as Schema, result: json(result) },
      ]),
  ),
  sections: Object.fromEntries(
    Object.entries(await sectionSchemas()).map(([name, schema]) => [name, { schema: json(schema) }]),
  ),
});
