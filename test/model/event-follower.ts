import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { ApiClient } from '../support/api-client';

export interface SeenEvent {
  seq: number;
  type: string;
  subject: { kind: string; id: string };
  data: {
    id: string;
    name?: string;
    state: string;
    stateReason?: string;
    taskId?: string | null;
    type?: string;
    subject?: { id: string };
    error?: unknown;
  };
}

/**
 * Follows the live events as a client does: resumes after the last one that it saw when the connection ends, for as
 * long as it runs.
 */
export class EventFollower {
  private readonly dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  private readonly ending = new AbortController();
  private running: Promise<void> | undefined;
  private last: number | undefined;
  /** What a client must never be told while it resumes from a moment ago. */
  resets = 0;

  constructor(
    private readonly api: ApiClient,
    private readonly saw: (event: SeenEvent) => void,
    /** Nouns. */
    private readonly types = 'instance,task',
  ) {}

  /** Resolves once the stream is live. */
  async start(): Promise<void> {
    await new Promise<void>((live) => {
      this.running = this.follow(live);
    });
  }

  get position(): number {
    return this.last ?? 0;
  }

  async stop(): Promise<void> {
    this.ending.abort();
    await this.running;
    await this.dispatcher.destroy();
  }

  private async follow(live: () => void): Promise<void> {
    while (!this.ending.signal.aborted) {
      await this.connect(live).catch(() => undefined);
      await delay(100, undefined, { signal: this.ending.signal }).catch(() => undefined);
    }
  }

  private async connect(live: () => void): Promise<void> {
    const { statusCode, body } = await request(`${this.api.url}/api/v1/events?type=${this.types}`, {
      dispatcher: this.dispatcher,
      signal: this.ending.signal,
      bodyTimeout: 0,
      headers: {
        authorization: `Bearer ${this.api.token}`,
        ...(this.last !== undefined && { 'last-event-id': String(this.last) }),
      },
    });
    if (statusCode !== 200) {
      await body.dump();
      return;
    }
    let rest = '';
    for await (const chunk of body) {
      const blocks = (rest + String(chunk)).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) this.take(block, live);
    }
  }

  private take(block: string, live: () => void): void {
    const field = (name: string): string | undefined =>
      block
        .split('\n')
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2);
    const data = field('data');
    if (data === undefined) return;
    const control = field('event');
    if (control === 'reset') this.resets += 1;
    if (control === 'ready') {
      this.last ??= (JSON.parse(data) as { seq: number }).seq;
      live();
    }
    if (control !== undefined) return;
    const event = JSON.parse(data) as SeenEvent;
    this.last = event.seq;
    this.saw(event);
  }
}
