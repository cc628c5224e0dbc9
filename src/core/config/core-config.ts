import { z } from 'zod';

const port = z.number().int().min(0).max(65_535);

/** The sections that core itself reads. Modules add their own under `modules.<name>`. Unknown keys are refused everywhere. */
export const coreConfigSchema = z.strictObject({
  /** Persistent files of both roles. */
  stateDir: z.string().default('/var/lib/vc-stack'),
  /** Sockets and pid files; short, for Unix sockets allow 107 bytes. */
  runDir: z.string().default('/run/vc-stack'),
  log: z.strictObject({ level: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info') }).prefault({}),
  database: z
    .strictObject({
      /** Empty: an embedded PostgreSQL under the state directory. */
      url: z.string().meta({ secret: 'url' }).default(''),
      /** Connections per management process. */
      pool: z.number().int().min(2).max(200).default(20),
      /** Unprivileged user that the embedded server runs as (made when missing). */
      user: z.string().default('vc-stack-pg'),
    })
    .prefault({}),
  /** Empty: queues and rate limits do without Redis. */
  redis: z.strictObject({ url: z.string().meta({ secret: 'url' }).default('') }).prefault({}),
  management: z
    .strictObject({
      listen: z.string().default('0.0.0.0'),
      /** REST, console, live events. */
      port: port.default(8443),
      /** Nodes to management. */
      nodePort: port.default(8445),
      /** Address under which users and nodes reach management; the first global address of this machine when empty. */
      address: z.string().default(''),
    })
    .prefault({}),
  compute: z
    .strictObject({
      /** The host's name; the machine's when empty. */
      name: z.string().default(''),
      listen: z.string().default('0.0.0.0'),
      port: port.default(8444),
      /** Address under which management reaches this host; the one that routes to management when empty. */
      address: z.string().default(''),
      /** One-time enrolment token (or its file, `tokenFile`). Only read while the host has no certificate. */
      token: z.string().meta({ secret: true }).default(''),
    })
    .prefault({}),
  /** Between management and its nodes. Times in milliseconds. */
  m2m: z
    .strictObject({
      /** A node reports itself this often, and at once when something changed. */
      heartbeatMs: z.number().int().min(50).max(60_000).default(5_000),
      /** Calls in a row without an answer after which management stops calling a node for a while. */
      breakerFailures: z.number().int().min(1).max(100).default(5),
      /** How long it stops. */
      breakerOpenMs: z.number().int().min(10).max(600_000).default(30_000),
      /** Connections to one node at most. */
      connectionsPerNode: z.number().int().min(1).max(100).default(8),
      /** A long verb that takes longer is answered "accepted". */
      acceptAfterMs: z.number().int().min(1).max(30_000).default(1_000),
    })
    .prefault({}),
  limits: z
    .strictObject({
      /** JSON bodies, in bytes. */
      body: z.number().int().default(1_048_576),
    })
    .prefault({}),
});

export type CoreConfig = z.output<typeof coreConfigSchema>;
