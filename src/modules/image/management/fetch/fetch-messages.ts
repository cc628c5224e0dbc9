import { z } from 'zod';

const failures = [
  'url_not_allowed',
  'url_credentials',
  'url_failed',
  'url_too_slow',
  'fetch_crashed',
  'image_truncated',
  'image_too_large',
  'no_space',
] as const;
export type FetchFailure = (typeof failures)[number];

/** What the child that fetches is told. It writes the bytes to the descriptor `destination`, a new file. */
export const fetchJob = z.strictObject({
  url: z.string(),
  /** Also from loopback, link-local and private addresses. */
  allowPrivate: z.boolean(),
  maxBytes: z.number(),
  /** Beside SHA-256, which is always taken. */
  sha512: z.boolean(),
  /** A server that is silent for so long is gone. */
  silenceMs: z.number(),
  minBytesPerSecond: z.number(),
  paceWindowMs: z.number(),
});
export type FetchJob = z.output<typeof fetchJob>;

/** Descriptor of the file in the child. */
export const destination = 4;

const bytes = z.int().min(0);

/**
 * What the child says; `done` and `failed` are its last word. It has read a stranger's bytes: nothing of it is taken on
 * trust.
 */
export const fetchReport = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('begun'),
    announced: bytes.nullable(),
    contentType: z.string().max(200).nullable(),
  }),
  z.strictObject({ kind: z.literal('progress'), bytes }),
  z.strictObject({
    kind: z.literal('done'),
    bytes,
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    sha512: z
      .string()
      .regex(/^[0-9a-f]{128}$/)
      .nullable(),
  }),
  z.strictObject({
    kind: z.literal('failed'),
    code: z.enum(failures),
    message: z.string().max(1000),
    retry: z.boolean(),
  }),
]);
export type FetchReport = z.output<typeof fetchReport>;
