import { z } from 'zod';
import type { RecordForm } from '../../../core/host/records/record-form';
import type { HostNetworkDocument } from '../contract/network.verbs';

/** The document that the host was last given, as it lies on the disk. */
const documentRecord = z.object({
  generation: z.number().int(),
  networks: z.array(
    z.object({
      id: z.string(),
      subnet: z.string(),
      gateway: z.string(),
      gatewayMac: z.string(),
      dns: z.array(z.string()),
      domain: z.string(),
      mtu: z.number().int(),
      nat: z.boolean(),
      ports: z.array(
        z.object({
          id: z.string(),
          instanceId: z.string(),
          mac: z.string(),
          address: z.string(),
          hostname: z.string(),
          position: z.number().int().default(0),
          defaultRoute: z.boolean().default(true),
        }),
      ),
    }),
  ),
  egress: z
    .object({
      allow: z.array(z.string()).default([]),
      deny: z.array(z.string()).default([]),
      hosts: z.array(z.string()).default([]),
    })
    .prefault({}),
});

export const documentForm: RecordForm<HostNetworkDocument> = {
  name: 'network document',
  version: 1,
  schema: documentRecord,
  upgrades: {},
};
