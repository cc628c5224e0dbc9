import { appendFile, mkdir, readFile, truncate } from 'node:fs/promises';
import { injectable } from 'inversify';
import { StatePaths } from '../../config/state-paths';
import { Logging } from '../../telemetry/logging';
import { HttpsManagementClient } from './https-management-client';
import type { EngineVerbEvents } from './verb-runner';

export type NodeEvent =
  | { type: 'verb.done'; key: string }
  | { type: 'progress'; key: string; percent: number; message: string };

/** Events that wait for management at most. Beyond that the oldest go: management polls for what it never hears of. */
const bound = 10_000;
const batchSize = 200;
const firstRetryMs = 200;
const longestRetryMs = 10_000;
/** Progress of one call is sent this often at most. */
const progressEveryMs = 250;

/**
 * Reports of long verbs, in order. Those that must arrive (`verb.done`) are also kept in `<state>/events.log` until
 * management has taken them, so that they outlive this process; progress is best effort.
 */
@injectable()
export class EventSender implements EngineVerbEvents {
  private queue: NodeEvent[] = [];
  private readonly progressAt = new Map<string, number>();
  private sending: Promise<void> | undefined;
  private onDisk = 0;
  private writes: Promise<void> = Promise.resolve();
  private retry: { timer: NodeJS.Timeout; go: () => void } | undefined;
  private started = false;
  private stopped = false;

  constructor(
    private readonly client: HttpsManagementClient,
    private readonly paths: StatePaths,
    private readonly logging: Logging,
  ) {}

  async start(): Promise<void> {
    await mkdir(this.paths.stateDir(), { recursive: true, mode: 0o700 });
    const text = await readFile(this.file(), 'utf8').catch(() => '');
    const left = text.split('\n').filter((line) => line !== '');
    this.onDisk = left.length;
    const keys = left.slice(-bound).flatMap((line) => parseKey(line));
    this.queue = [...keys.map((key) => ({ type: 'verb.done' as const, key })), ...this.queue];
    this.started = true;
    this.kick();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.retry?.go();
    await this.sending;
    await this.writes;
  }

  done(key: string): void {
    this.progressAt.delete(key);
    this.push({ type: 'verb.done', key });
    this.onDisk += 1;
    this.write(() => appendFile(this.file(), `${JSON.stringify(key)}\n`, { mode: 0o600 }));
  }

  progress(key: string, percent: number, message: string): void {
    const now = performance.now();
    const last = this.progressAt.get(key);
    if (last !== undefined && now - last < progressEveryMs && percent < 100) return;
    if (this.progressAt.size > bound) this.progressAt.clear();
    this.progressAt.set(key, now);
    this.queue = this.queue.filter((event) => event.type !== 'progress' || event.key !== key);
    this.push({ type: 'progress', key, percent, message: message.slice(0, 500) });
  }

  private push(event: NodeEvent): void {
    this.queue.push(event);
    if (this.queue.length > bound) this.queue.shift();
    this.kick();
  }

  private kick(): void {
    if (!this.started || this.stopped || this.sending || this.queue.length === 0) return;
    this.sending = this.drain().finally(() => {
      this.sending = undefined;
      this.kick();
    });
  }

  private async drain(): Promise<void> {
    let wait = firstRetryMs;
    while (this.queue.length > 0 && !this.stopped) {
      const batch = this.queue.slice(0, batchSize);
      try {
        await this.client.post('/events', { events: batch });
        wait = firstRetryMs;
        const sent = new Set(batch);
        this.queue = this.queue.filter((event) => !sent.has(event));
      } catch (error) {
        this.logging.for('events').debug({ err: error, waiting: this.queue.length }, 'management does not take events');
        await this.pause(wait * (0.5 + Math.random() / 2));
        wait = Math.min(wait * 2, longestRetryMs);
      }
    }
    if (this.queue.every((event) => event.type === 'progress') && this.onDisk > 0) {
      this.onDisk = 0;
      this.write(() => truncate(this.file(), 0));
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        clearTimeout(timer);
        this.retry = undefined;
        resolve();
      };
      const timer = setTimeout(go, ms);
      this.retry = { timer, go };
    });
  }

  /** File operations one after the other. A full disk costs only the copy: management polls. */
  private write(operation: () => Promise<void>): void {
    this.writes = this.writes
      .then(operation)
      .catch((error: unknown) => this.logging.for('events').warn({ err: error }, 'the event file cannot be written'));
  }

  private file(): string {
    return this.paths.stateDir('events.log');
  }
}

/** A line that a crash cut short is no key. */
const parseKey = (line: string): string[] => {
  try {
    const key: unknown = JSON.parse(line);
    return typeof key === 'string' ? [key] : [];
  } catch {
    return [];
  }
};
