import { z } from 'zod';
import { NotUnderstood } from './not-understood';
import type { AnyVerb, WireArgs } from './verb';

const byName = z
  .record(z.string().min(1).max(100), z.number().int().min(1))
  .refine((all) => Object.keys(all).length <= 1000, {
    error: 'at most 1,000 names',
  });

/** Section `revisions` of the heartbeat: what a node's release understands and says. */
export const nodeRevisions = z.object({
  /** Of the agent, e.g. `0.1.0`. */
  release: z.string().max(100),
  /** The newest revision of each verb that it understands. */
  verbs: byName,
  /** The revision in which it writes each section of its heartbeat. */
  sections: byName,
  /** Whether it takes several calls in one request; agents from before that do not tell. */
  callsInTurn: z.boolean().optional(),
});
export type NodeRevisions = z.output<typeof nodeRevisions>;

export const revisionsSection = 'revisions';

/**
 * The newest revision of the verb that the node understands; 0 when it does not know the verb. Agents from before
 * revisions were told know each verb as it was first.
 */
export const knownRevision = (verbs: Readonly<Record<string, number>> | null, verb: string): number =>
  verbs === null ? 1 : Object.hasOwn(verbs, verb) ? (verbs[verb] ?? 0) : 0;

/**
 * The arguments as a node writes and reads them that knows the verb up to revision `known`. Throws `NotUnderstood` when
 * that revision cannot say what these do.
 */
export const argsFor = (
  verb: Pick<AnyVerb, 'name' | 'revision' | 'older'>,
  args: WireArgs,
  known: number,
): WireArgs => {
  if (known < 1) throw new NotUnderstood(`the verb "${verb.name}"`);
  let written = args;
  for (let revision = verb.revision; revision > known; revision -= 1) {
    const older = verb.older[revision];
    if (!older) throw new NotUnderstood(`revision ${revision} of "${verb.name}"`);
    written = older(written);
  }
  return written;
};

/** The lowest revision of the verb that can say what these arguments do. */
export const neededRevision = (verb: Pick<AnyVerb, 'name' | 'revision' | 'older'>, args: WireArgs): number => {
  let written = args;
  for (let revision = verb.revision; revision > 1; revision -= 1) {
    const older = verb.older[revision];
    if (!older) return revision;
    try {
      written = older(written);
    } catch (error) {
      if (error instanceof NotUnderstood) return revision;
      throw error;
    }
  }
  return 1;
};
