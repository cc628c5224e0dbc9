import { z } from 'zod';

const port = z.number().int().min(0).max(65_535);
/** `host`, `host:port` or `[address]:port`. */
const hostAndPort = z
  .string()
  .regex(/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[1-9]\d{0,4})?$/, 'must be a host, host:port or [IPv6 address]:port')
  .refine(
    (text) => Number(/[^:\]]:(\d+)$|\]:(\d+)$/.exec(text)?.slice(1).find(Boolean) ?? 1) <= 65_535,
    'has a port above 65535',
  );

/**
 * The sections that core itself reads. Modules add their own under `modules.<name>`. Unknown keys are refused
 * everywhere.
 */
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
      /**
       * Where this host reaches management: one address per management process, or a load balancer's. Empty: the one
       * that the token names.
       */
      management: z.array(hostAndPort).max(16).default([]),
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
  workflow: z
    .strictObject({
      /** Tasks that one management process runs at the same time. */
      concurrency: z.number().int().min(1).max(256).default(128),
      /** Calls to one host under way at the same time, over all management processes. */
      hostConcurrency: z.number().int().min(1).max(1_000).default(16),
      /** A task that is over leaves the engine's table for the archive after so long. */
      archiveAfterMinutes: z.number().min(0).max(525_600).default(60),
      /** It leaves the archive after so long. */
      keepDays: z.number().min(0).max(3_650).default(30),
    })
    .prefault({}),
  /** Children that handle what tenants and the outside gave: no rights, and only their own files to be seen. */
  sandbox: z
    .strictObject({
      /** First of a range of user and group ids that nothing else on the machine uses. They need no accounts. */
      firstUser: z.number().int().min(1_000).max(4_000_000_000).default(1_879_048_192),
      /** How many there are. Sixteen are the product's own; each instance of a host has one of the others. */
      users: z.number().int().min(32).max(1_000_000).default(65_536),
      /** Absolute paths that such children may read besides `/usr` and the folder of their own program. */
      readOnlyPaths: z.array(z.string().startsWith('/')).max(64).default([]),
    })
    .prefault({}),
  limits: z
    .strictObject({
      /** JSON bodies, in bytes. */
      body: z.number().int().default(1_048_576),
      /** Connections of one listener at most. */
      connections: z.number().int().min(1).max(1_000_000).default(10_000),
      /** Of these, from one address (an IPv6 /64) at most; 0 for no limit, behind a load balancer. */
      connectionsPerAddress: z.number().int().min(0).max(1_000_000).default(1_000),
      /** A new connection has done its TLS handshake within this time. Milliseconds. */
      handshakeMs: z.number().int().min(100).max(600_000).default(10_000),
      /** The headers of a request have come within this time. */
      headersMs: z.number().int().min(100).max(600_000).default(20_000),
      /** The body of a request has come within this time; uploads of images have rules of their own. */
      bodyMs: z.number().int().min(100).max(3_600_000).default(30_000),
    })
    .prefault({}),
});

export type CoreConfig = z.output<typeof coreConfigSchema>;
