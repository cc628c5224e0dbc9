import type { z } from 'zod';

/** JSON of an older record, as it stands in the file. */
type OldRecord = Record<string, unknown>;

/**
 * How a file of the agent is written. Its schema is its own and never one of the wire: what comes over the network may
 * change without what lies on the disk, and the other way round. It passes over fields that it does not know.
 */
export interface RecordForm<T> {
  /** In the operator's words, e.g. `record of an instance`. */
  name: string;
  /** From 1, which is also what a file without a number is of. Grows when an older build would misread it. */
  version: number;
  schema: z.ZodType<T>;
  /** By version: makes its record into one of the next version. Every version before the present one has one. */
  upgrades: Readonly<Record<number, (old: OldRecord) => OldRecord>>;
}

export type RecordReading<T> =
  | { kind: 'read'; value: T }
  /** Of a newer build. `value` when it can be read all the same. */
  | { kind: 'newer'; version: number; reason: string; value: T | undefined }
  | { kind: 'unreadable'; reason: string };

/** Reads a file's text, brought up to the present version. Never throws. */
export const parseRecord = <T>(form: RecordForm<T>, text: string): RecordReading<T> => {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { kind: 'unreadable', reason: `the ${form.name} is no JSON` };
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return { kind: 'unreadable', reason: `the ${form.name} is no record` };
  let record = json as OldRecord;
  const { version = 1 } = record;
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
    return { kind: 'unreadable', reason: `the ${form.name} has no valid version` };
  if (version > form.version)
    return {
      kind: 'newer',
      version,
      reason: `the ${form.name} is of version ${version}, and this agent knows ${form.version} at most`,
      value: form.schema.safeParse(record).data,
    };
  for (let at = version; at < form.version; at += 1) {
    const upgrade = form.upgrades[at];
    if (!upgrade) return { kind: 'unreadable', reason: `the ${form.name} is of version ${at}, which nothing upgrades` };
    try {
      record = upgrade(record);
    } catch {
      return { kind: 'unreadable', reason: `the ${form.name} of version ${at} could not be upgraded` };
    }
  }
  const parsed = form.schema.safeParse(record);
  if (parsed.success) return { kind: 'read', value: parsed.data };
  const [issue] = parsed.error.issues;
  return {
    kind: 'unreadable',
    reason: `the ${form.name} is damaged (${issue ? `${issue.path.join('.') || 'record'}: ${issue.message}` : 'invalid'})`,
  };
};

/** The text of a file of the present version. */
export const formatRecord = <T extends object>(form: RecordForm<T>, value: T): string =>
  JSON.stringify({ version: form.version, ...value });
