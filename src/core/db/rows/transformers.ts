import type { ValueTransformer } from 'typeorm';

/** A `bigint` column as a JS number. Only for counts that stay below 2^53 (bytes, sizes). */
export const bigintAsNumber: ValueTransformer = {
  to: (value: number | null | undefined) => value,
  from: (value: string | null) => (value === null ? null : Number(value)),
};
