import { z } from 'zod';

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * True for a string that could be an object's id; names of that shape are refused, so a reference is never ambiguous.
 */
export const looksLikeId = (value: string): boolean => uuidPattern.test(value);

/**
 * Control characters, line and paragraph separators, and lone surrogates: never in a name, and PostgreSQL refuses NUL.
 */
const forbiddenCharacters = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;
/**
 * What turns the direction of text, or is not seen at all: with it one name looks like another. Joiners are part of
 * scripts and emoji.
 */
const deceivingCharacters = /[\p{Bidi_Control}\u00ad\u200b\u2060-\u2064\ufeff]/u;
const honest = [
  (s: string): boolean => !deceivingCharacters.test(s),
  {
    error: 'characters that turn the direction of text or are invisible are not allowed',
    params: { code: 'control_characters' },
  },
] as const;

/** An object's id: UUID in lower case. */
export const id = z.uuid().toLowerCase();

/**
 * An object's display name: 1 to 63 characters, any script, no control characters, no surrounding blanks, not shaped
 * like an id.
 */
export const displayName = z
  .string()
  .min(1)
  .refine((s) => [...s].length <= 63, { error: 'at most 63 characters', params: { code: 'too_long' } })
  .refine((s) => !forbiddenCharacters.test(s), {
    error: 'control characters are not allowed',
    params: { code: 'control_characters' },
  })
  .refine(...honest)
  .refine((s) => s.trim() === s, { error: 'no blanks at the start or end', params: { code: 'surrounding_blanks' } })
  .refine((s) => !looksLikeId(s), { error: 'must not have the form of an id', params: { code: 'looks_like_id' } });

/** A reference in a path, query or body: id or name. */
export const ref = z
  .string()
  .min(1)
  .max(255)
  .refine((s) => !s.includes('\u0000'), { error: 'NUL is not allowed', params: { code: 'control_characters' } });

/** Free text, at most 255 characters, without control characters but line breaks. */
export const description = z
  .string()
  .refine((s) => [...s].length <= 255, { error: 'at most 255 characters', params: { code: 'too_long' } })
  .refine((s) => !/[\p{Cs}]|[^\P{Cc}\n\t]/u.test(s), {
    error: 'control characters are not allowed',
    params: { code: 'control_characters' },
  })
  .refine(...honest);

/** An integer in a query: digits and nothing else, so neither `1e2` nor ` 7`. */
export const queryInteger = (min: number, max: number) =>
  z.preprocess(
    (text) => (typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : text),
    z.number().int().min(min).max(max),
  );

/** RFC 3339, UTC. */
export const timestamp = z.iso.datetime();

/** A count of bytes as a JSON number; at most 2^53 - 1. */
export const bytes = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER);
