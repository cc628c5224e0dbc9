import { z } from 'zod';

const prefix = 'vcsj_';

/** What a token tells a new host: where management is, which root to trust, and the one-time ticket `<id>.<secret>`. */
export interface EnrolmentToken {
  address: string;
  port: number;
  /** SHA-256 of the root certificate, hex. */
  rootFingerprint: string;
  ticket: string;
}

const wire = z.object({
  a: z.string().min(1).max(255),
  p: z.number().int().min(1).max(65_535),
  f: z.string().regex(/^[0-9a-f]{64}$/),
  t: z.string().min(1).max(200),
});

export const encodeToken = (token: EnrolmentToken): string =>
  prefix +
  Buffer.from(JSON.stringify({ a: token.address, p: token.port, f: token.rootFingerprint, t: token.ticket })).toString(
    'base64url',
  );

/** Null for a string that is no token. */
export const decodeToken = (text: string): EnrolmentToken | null => {
  const trimmed = text.trim();
  if (!trimmed.startsWith(prefix) || trimmed.length > 4096) return null;
  try {
    const parsed = wire.safeParse(JSON.parse(Buffer.from(trimmed.slice(prefix.length), 'base64url').toString('utf8')));
    if (!parsed.success) return null;
    const { a, p, f, t } = parsed.data;
    return { address: a, port: p, rootFingerprint: f, ticket: t };
  } catch {
    return null;
  }
};
