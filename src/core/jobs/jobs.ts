import {
  createPostgresBackend,
  createRedisBackend,
  runMigrations,
  UnrecoverableError,
  withBackend,
  type JobsOptions,
} from 'bullmq';
import { injectable } from 'inversify';
import { Client } from 'pg';
import type { Logger } from 'pino';
import { Service } from '../lifecycle/service';
import { Database } from '../db/database';
import { Logging } from '../telemetry/logging';
import { RedisClients } from '../redis/redis-clients';

export type JobHandler = (data: unknown) => Promise<void>;

interface JobQueue {
  add(name: string, data: unknown, options: JobsOptions): Promise<unknown>;
  upsertJobScheduler(
    id: string,
    repeat: { every: number },
    template: { name: string; data: unknown; opts: object },
  ): Promise<unknown>;
  close(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}
interface JobWorker {
  close(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  waitUntilReady(): Promise<unknown>;
}

const queueName = 'vc-stack';
const schema = 'bullmq';
const retention = { removeOnComplete: { age: 3_600, count: 100 }, removeOnFail: { age: 86_400, count: 500 } };

/**
 * Work that may be lost or done twice, such as pruning. What must happen is a workflow. Runs on Redis when `redis.url`
 * is set, else on the queue's PostgreSQL backend in a schema of its own.
 */
@injectable()
export class Jobs extends Service {
  private readonly log: Logger;
  private readonly handlers = new Map<string, JobHandler>();
  private readonly schedules = new Map<string, number>();
  private queue: JobQueue | undefined;
  private worker: JobWorker | undefined;

  constructor(
    private readonly database: Database,
    private readonly redis: RedisClients,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('jobs');
  }

  /** Names the handler of a kind of job. One per name and process. */
  process(name: string, handler: JobHandler): void {
    if (this.handlers.has(name)) throw new Error(`the job "${name}" has a handler already`);
    this.handlers.set(name, handler);
  }

  /** Runs `fn` every `everyMs` milliseconds, in one of the processes that share the queue. Before or after `start`. */
  async repeat(name: string, everyMs: number, fn: () => Promise<void>): Promise<void> {
    this.process(name, fn);
    this.schedules.set(name, everyMs);
    if (this.queue) await this.schedule(this.queue, name, everyMs);
  }

  /** Queues a job for once; up to five attempts with growing pauses. Only while started. */
  async enqueue(name: string, data: unknown, options: { delayMs?: number } = {}): Promise<void> {
    if (!this.queue) throw new Error('jobs are not started');
    await this.queue.add(name, data, {
      attempts: 5,
      backoff: { type: 'exponential', delay: 1_000 },
      ...retention,
      ...(options.delayMs !== undefined && { delay: options.delayMs }),
    });
  }

  override async start(): Promise<void> {
    if (this.queue) return;
    const { queue, worker } = this.redis.enabled ? this.openRedis() : await this.openPostgres();
    queue.on('error', (error) => this.log.warn({ err: error }, 'job queue'));
    worker.on('error', (error) => this.log.warn({ err: error }, 'job worker'));
    this.queue = queue;
    this.worker = worker;
    for (const [name, everyMs] of this.schedules) await this.schedule(queue, name, everyMs);
    await worker.waitUntilReady();
  }

  /**
   * Waits at most 5 s for jobs that run; what is left is taken up by the next process. A backend that is away is not
   * waited for any longer either: its connections end with the process, those to Redis with `RedisClients.close`.
   */
  override async stop(): Promise<void> {
    const { queue, worker } = this;
    this.queue = undefined;
    this.worker = undefined;
    if (!queue || !worker) return;
    const closed = worker
      .close()
      .then(() => queue.close())
      .catch((error: unknown) => this.log.warn({ err: error }, 'the job queue did not close'));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, 5_000);
    });
    await Promise.race([closed, late]);
    clearTimeout(timer);
  }

  private async run(name: string, data: unknown): Promise<void> {
    const handler = this.handlers.get(name);
    if (!handler) throw new UnrecoverableError(`no handler for the job "${name}"`);
    try {
      await handler(data);
    } catch (error) {
      this.log.warn({ err: error, job: name }, 'a job failed');
      throw error;
    }
  }

  private async schedule(queue: JobQueue, name: string, every: number): Promise<void> {
    await queue.upsertJobScheduler(
      name,
      { every },
      { name, data: {}, opts: { attempts: 3, backoff: { type: 'exponential', delay: 1_000 }, ...retention } },
    );
  }

  private openRedis(): { queue: JobQueue; worker: JobWorker } {
    const { Queue, Worker } = withBackend(createRedisBackend);
    const prefix = 'vc-stack:jobs';
    return {
      queue: new Queue(queueName, { connection: this.redis.create({ maxRetriesPerRequest: null }), prefix }),
      worker: new Worker(queueName, (job) => this.run(job.name, job.data), {
        connection: this.redis.create({ maxRetriesPerRequest: null }),
        prefix,
        concurrency: 4,
      }),
    };
  }

  private async openPostgres(): Promise<{ queue: JobQueue; worker: JobWorker }> {
    const { options } = this.database.dataSource;
    if (options.type !== 'postgres' || options.url === undefined)
      throw new Error('jobs need a PostgreSQL data source with a URL');
    const client = new Client({ connectionString: options.url, application_name: 'vc-stack-jobs-migrate' });
    await client.connect();
    try {
      await runMigrations(client, schema);
    } finally {
      await client.end();
    }
    const { Queue, Worker } = withBackend(createPostgresBackend);
    const connection = (max: number) => ({
      connectionString: options.url,
      schema,
      max,
      application_name: 'vc-stack-jobs',
    });
    return {
      queue: new Queue(queueName, { connection: connection(1) }),
      worker: new Worker(queueName, (job) => this.run(job.name, job.data), {
        connection: connection(2),
        concurrency: 4,
      }),
    };
  }
}
