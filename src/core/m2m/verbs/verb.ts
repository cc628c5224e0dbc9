import type { z } from 'zod';

/** Arguments as they go over the wire. */
export type WireArgs = Record<string, unknown>;

/**
 * Writes arguments of one revision for a node that knows the revision before. Leaves out only what means the same when
 * it is left out; throws `NotUnderstood` for everything else.
 */
export type OlderForm = (args: WireArgs) => WireArgs;

/**
 * One operation that management may ask of a node. The schema is shared by both halves, so they cannot disagree on a
 * payload. Nodes pass over fields that they do not know: what must be understood is told by the revision.
 */
export interface Verb<A = unknown, R = unknown> {
  /** `<noun>.<verb>`, e.g. `instance.ensure`. Also the path: `POST /verbs/<name>`. */
  name: string;
  args: z.ZodType<A>;
  result: z.ZodType<R>;
  /** From 1. Grows whenever a node has to understand something more of the arguments than before. */
  revision: number;
  /** By revision: how its arguments are written for the one before. Without an entry they cannot be. */
  older: Readonly<Record<number, OlderForm>>;
  /**
   * Deadline of one call on the wire, in milliseconds. A `long` verb answers "accepted" when it is not done within
   * `acceptAfterMs`.
   */
  timeoutMs: number;
  /** Changes the node: journalled by key, fenced. Reads are not. */
  mutating: boolean;
  /** May outlast a call: answered "accepted" after 1 s and awaited by event or poll. */
  long: boolean;
}

export const defineVerb = <A, R>(
  name: string,
  spec: {
    args: z.ZodType<A>;
    result: z.ZodType<R>;
    revision?: number;
    older?: Readonly<Record<number, OlderForm>>;
    timeoutMs?: number;
    mutating?: boolean;
    long?: boolean;
  },
): Verb<A, R> => ({
  name,
  args: spec.args,
  result: spec.result,
  revision: spec.revision ?? 1,
  older: spec.older ?? {},
  timeoutMs: spec.timeoutMs ?? 30_000,
  mutating: spec.mutating ?? true,
  long: spec.long ?? false,
});

/** A verb of whatever payload, as manifests list them. */
export type AnyVerb = Pick<Verb<never, never>, 'name' | 'revision' | 'older' | 'timeoutMs' | 'mutating' | 'long'>;
