import type { Logger } from 'pino';

interface Started {
  name: string;
  stop: () => Promise<void>;
}

/** Starts parts in order and stops the started ones in reverse; a start that fails stops what had started. */
export class Lifecycle {
  private readonly started: Started[] = [];

  constructor(private readonly log: Logger) {}

  async run<T>(
    name: string,
    start: () => Promise<T>,
    stop: (value: T) => Promise<void> = async () => undefined,
  ): Promise<T> {
    try {
      const value = await start();
      this.started.push({ name, stop: () => stop(value) });
      this.log.debug({ part: name }, 'started');
      return value;
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Idempotent. A part that fails to stop is logged and does not keep the others from stopping. */
  async stop(): Promise<void> {
    for (let part = this.started.pop(); part; part = this.started.pop()) {
      try {
        await part.stop();
      } catch (error) {
        this.log.error({ err: error, part: part.name }, 'stopping failed');
      }
    }
  }
}
