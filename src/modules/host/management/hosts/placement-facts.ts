import { z } from 'zod';

/** What placement needs of the parts that modules report; kept beside the host, so that no inventory is read for it. */
export const placementFacts = z.object({
  vmms: z.array(z.object({ kind: z.string(), usable: z.boolean(), capabilities: z.array(z.string()) })).default([]),
  pools: z.array(z.object({ name: z.string(), totalBytes: z.number() })).default([]),
});
