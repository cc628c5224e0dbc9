import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { v7 as uuid } from 'uuid';

/** What a token's text says: which row, and the proof that its holder got it from us. */
export interface ParsedToken {
  id: string;
  secret: string;
}

/**
 * An opaque token `<prefix>_<id>_<secret>`: 32 hex digits of a UUID and 256 random bits in base64url. Only the secret's
 * SHA-256 is stored; a slow hash would add nothing to so much randomness.
 */
export const makeToken = (prefix: string): { id: string; token: string; hash: Buffer } => {
  const id = uuid();
  const secret = randomBytes(32).toString('base64url');
  return { id, token: `${prefix}_${id.replaceAll('-', '')}_${secret}`, hash: digest(secret) };
};

/** Null for anything that is not of that form. */
export const parseToken = (prefix: string, token: string): ParsedToken | null => {
  const match =
    /^([a-z]+)_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/.exec(token);
  if (!match || match[1] !== prefix) return null;
  return { id: match.slice(2, 7).join('-'), secret: match[7] ?? '' };
};

/** In constant time. */
export const secretMatches = (secret: string, hash: Buffer): boolean => {
  const given = digest(secret);
  return given.length === hash.length && timingSafeEqual(given, hash);
};

const digest = (secret: string): Buffer => createHash('sha256').update(secret).digest();
