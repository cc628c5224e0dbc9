import type { z } from 'zod';

/**
 * One operation that management may ask of a node. The schema is shared by both halves, so they cannot disagree on a
 * payload.
 */
export interface Verb<A = unknown, R = unknown> {
  /** `<noun>.<verb>`, e.g. `instance.ensure`. Also the path: `POST /verbs/<name>`. */
  name: string;
  args: z.ZodType<A>;
  result: z.ZodType<R>;
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
  spec: { args: z.ZodType<A>; result: z.ZodType<R>; timeoutMs?: number; mutating?: boolean; long?: boolean },
): Verb<A, R> => ({
  name,
  args: spec.args,
  result: spec.result,
  timeoutMs: spec.timeoutMs ?? 30_000,
  mutating: spec.mutating ?? true,
  long: spec.long ?? false,
});

/** A verb of whatever payload, as manifests list them. */
export type AnyVerb = Pick<Verb<never, never>, 'name' | 'timeoutMs' | 'mutating' | 'long'>;
