import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';

/** A core dump on a host. */
export const coreDumpFile = z.object({
  id: field.id,
  /** A word of an open set. */
  format: z.string().max(63),
  /** Of the file as it is downloaded; parts that are all zeros take no room on the host. */
  bytes: field.bytes,
  /** When it was whole. */
  createdAt: field.timestamp,
});
export type CoreDumpFile = z.infer<typeof coreDumpFile>;
