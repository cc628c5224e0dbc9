import { z } from 'zod';

/** Where a host's agent is reached: an address or a host name. The same at enrolment and in every heartbeat. */
export const nodeAddress = z.string().regex(/^[A-Za-z0-9.:-]{1,255}$/, 'an address or a host name');

/** Body of `POST /node/heartbeat`. Sections that did not change since management last took them are left out. */
export const heartbeatBody = z.object({
  /** Must be the host of the client certificate. */
  hostId: z.uuid(),
  /** New for each run of the agent. */
  boot: z.uuid(),
  seq: z.number().int().nonnegative(),
  /** The node's clock, milliseconds since the epoch. */
  time: z.number(),
  endpoint: z.object({ address: nodeAddress, port: z.number().int().min(1).max(65_535) }),
  agentVersion: z.string().max(100),
  sections: z.record(z.string().max(100), z.unknown()),
  /** The revision of those sections that are not written in their first one. */
  sectionRevisions: z.record(z.string().max(100), z.number().int().min(1)).default({}),
});

/**
 * `refused` sections were not taken, for the reason given, and are sent again when they change or after a reconnect.
 */
export const heartbeatAnswer = z.object({ refused: z.record(z.string(), z.string()) });
