import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';

/** Most that one listing names. */
export const leftoversLimit = 500;
/** Most that are removed by one call. */
export const removalLimit = 100;

/** What one is known by. `mark` changes when something else lies there under the same name. */
const named = {
  /** What it is, a word of an open set: `vmm-process`, `volume`, `network-namespace`. */
  kind: z.string().min(1).max(63),
  name: z.string().min(1).max(300),
  mark: z.string().min(1).max(200),
};

/** One that is to be removed, exactly as it was listed. */
export const confirmedLeftover = z.strictObject(named);
export type ConfirmedLeftover = z.output<typeof confirmedLeftover>;

/** What bears our names on a host and belongs to nothing that its agent has on record. */
const leftover = z
  .object({
    ...named,
    /** Noun of what it was made for, where its name tells. */
    owner: z.string().max(63).nullable(),
    /** Id of that, or the last twelve digits of it; null when its agent alone says what it belongs to. */
    ownerId: z.string().max(36).nullable(),
    /** Since when it lies there, where that is known: when it was last written, or started. */
    since: field.timestamp.nullable(),
    /** What it takes on disk, where that is cheap to know. */
    bytes: field.bytes.nullable(),
    /** What goes with it. */
    holds: z.array(z.string().max(100)).max(20),
  })
  .meta({ id: 'Leftover' });
export type Leftover = z.output<typeof leftover>;

/** One look at a host. */
export const leftoverListing = z.object({
  /** When it began. */
  scannedAt: field.timestamp,
  leftovers: z.array(leftover).max(leftoversLimit),
  /** There are more than were listed. */
  truncated: z.boolean(),
  /** Those whose part of the host could not be looked at. */
  failed: z.array(z.string().max(63)).max(20),
});
export type LeftoverListing = z.output<typeof leftoverListing>;

export const leftoverList = leftoverListing.meta({ id: 'LeftoverList' });
export const removeLeftovers = z.strictObject({ leftovers: z.array(confirmedLeftover).min(1).max(removalLimit) });
/** Section `leftovers` of a host's heartbeat: null until the first look is over. */
export const observedLeftovers = leftoverListing.nullable();
