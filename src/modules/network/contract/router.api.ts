import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { pageQuery } from '../../../core/http/routes/pagination';

export const createRouter = z.strictObject({
  name: field.displayName,
  description: field.description.default(''),
  /** Its subnets reach the outside by source NAT; without, each other only. */
  snat: z.boolean().default(true),
});
export const updateRouter = z.strictObject({
  name: field.displayName.optional(),
  description: field.description.optional(),
  snat: z.boolean().optional(),
});
export const router = z
  .object({
    id: field.id,
    projectId: field.id,
    name: z.string(),
    description: z.string(),
    snat: z.boolean(),
    /** Those that it joins. */
    subnets: z.array(
      z.object({ id: field.id, name: z.string(), cidr: z.string(), networkId: field.id, network: z.string() }),
    ),
    createdAt: field.timestamp,
  })
  .meta({ id: 'Router' });
export const routerListQuery = pageQuery.extend({ name: z.string().max(63).optional() });
export type Router = z.infer<typeof router>;
