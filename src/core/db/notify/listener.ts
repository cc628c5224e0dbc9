import type { Client } from 'pg';
import { PreparingClient } from '../preparing-client';

/** Called per notification; with null when the connection was remade, since anything may have been missed meanwhile. */
export type NotificationHandler = (payload: string | null) => void;

/**
 * One connection of its own for LISTEN, remade with growing pauses when it breaks. Opened by the first subscription.
 */
export class NotificationListener {
  private readonly handlers = new Map<string, Set<NotificationHandler>>();
  private client: Client | undefined;
  private connecting: Promise<Client> | undefined;
  private retry: NodeJS.Timeout | undefined;
  private pauseMs = 100;
  private closed = false;
  private connections = 0;

  constructor(
    private readonly url: string,
    private readonly applicationName: string,
  ) {}

  /**
   * Which connection listens: another number after each loss, 0 while there is none. Who keeps something until it is
   * told otherwise may rely on it only as long as the connection is the one that stood when it was found out.
   */
  get connection(): number {
    return this.client ? this.connections : 0;
  }

  /** Subscribes to a channel (a plain identifier). Resolves once the server listens; returns the way to unsubscribe. */
  async listen(channel: string, handler: NotificationHandler): Promise<() => Promise<void>> {
    if (!/^[a-z_][a-z0-9_]{0,62}$/.test(channel)) throw new Error(`"${channel}" is no channel name`);
    const set = this.handlers.get(channel) ?? new Set<NotificationHandler>();
    set.add(handler);
    this.handlers.set(channel, set);
    const client = await this.connected();
    await client.query(`LISTEN ${channel}`);
    return async () => {
      set.delete(handler);
      if (set.size === 0 && this.handlers.get(channel) === set) {
        this.handlers.delete(channel);
        await this.client?.query(`UNLISTEN ${channel}`).catch(() => undefined);
      }
    };
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.retry);
    const client = this.client ?? (await this.connecting?.catch(() => undefined));
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  private async connected(): Promise<Client> {
    if (this.closed) throw new Error('the notification listener is closed');
    if (this.client) return this.client;
    this.connecting ??= this.connect().finally(() => (this.connecting = undefined));
    return this.connecting;
  }

  private async connect(): Promise<Client> {
    const client = new PreparingClient({
      connectionString: this.url,
      application_name: `${this.applicationName}-listen`,
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
    });
    client.on('notification', (n) => this.dispatch(n.channel, n.payload ?? ''));
    client.on('error', () => this.lost(client));
    let ended = false;
    client.on('end', () => {
      ended = true;
      this.lost(client);
    });
    try {
      await client.connect();
      for (const channel of this.handlers.keys()) await client.query(`LISTEN ${channel}`);
      if (ended) throw new Error('the listening connection ended at once');
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    this.client = client;
    this.connections += 1;
    this.pauseMs = 100;
    return client;
  }

  private dispatch(channel: string, payload: string | null): void {
    for (const handler of [...(this.handlers.get(channel) ?? [])]) handler(payload);
  }

  private lost(client: Client): void {
    if (this.client !== client) return;
    this.client = undefined;
    void client.end().catch(() => undefined);
    this.reconnectLater();
  }

  private reconnectLater(): void {
    if (this.closed) return;
    clearTimeout(this.retry);
    this.retry = setTimeout(() => {
      this.connected().then(
        () => {
          for (const channel of this.handlers.keys()) this.dispatch(channel, null);
        },
        () => this.reconnectLater(),
      );
    }, this.pauseMs);
    this.pauseMs = Math.min(this.pauseMs * 2, 5_000);
  }
}
