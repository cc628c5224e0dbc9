import { injectable } from 'inversify';
import { Redis, type RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { Config } from '../config/config';
import { Logging } from '../telemetry/logging';

/** Connections to the optional Redis. */
@injectable()
export class RedisClients {
  /** False when `redis.url` is empty: nothing here may be used then. */
  readonly enabled: boolean;
  private readonly url: string;
  private readonly log: Logger;
  private readonly open: Redis[] = [];
  private one: Redis | undefined;

  constructor(config: Config, logging: Logging) {
    this.url = config.core.redis.url;
    this.enabled = this.url !== '';
    this.log = logging.for('redis');
  }

  /** The connection for short commands. Commands fail at once while Redis is away, instead of queueing. */
  shared(): Redis {
    return (this.one ??= this.create({ enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 2_000 }));
  }

  /** A connection of its own (blocking commands, subscriptions), closed by `close`. */
  create(options: RedisOptions): Redis {
    if (!this.enabled) throw new Error('Redis is not configured');
    const client = this.keep(
      new Redis(this.url, {
        retryStrategy: (times) => Math.min(times * 100, 5_000),
        disconnectTimeout: 200,
        ...options,
      }),
    );
    // Libraries copy what they are given; a copy would go on to reconnect after everything is closed.
    const duplicate = client.duplicate.bind(client);
    client.duplicate = (override) => this.keep(duplicate(override));
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.open.splice(0)) client.disconnect();
    this.one = undefined;
    await Promise.resolve();
  }

  private keep(client: Redis): Redis {
    client.on('error', (error: Error) => this.log.warn({ err: error }, 'Redis connection'));
    this.open.push(client);
    return client;
  }
}
