import { createConnection, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Stands between management and its database: connections can be cut, also between a commit and its answer. */
export class DatabaseProxy {
  private readonly pairs = new Set<{ client: Socket; server: Socket }>();
  private refusing = false;
  private losing: { marker: Buffer; done: () => void } | undefined;

  private constructor(
    private readonly listener: Server,
    private readonly target: URL,
  ) {
    listener.on('connection', (client) => this.join(client));
  }

  static async start(databaseUrl: string): Promise<DatabaseProxy> {
    const listener = createServer();
    await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
    return new DatabaseProxy(listener, new URL(databaseUrl));
  }

  get url(): string {
    const url = new URL(this.target);
    url.port = String((this.listener.address() as AddressInfo).port);
    return url.toString();
  }

  /** Ends all connections and takes no new ones until `restore`. */
  cut(): void {
    this.refusing = true;
    for (const pair of this.pairs) this.end(pair);
  }

  restore(): void {
    this.refusing = false;
  }

  /**
   * The answer to the first commit on a connection that has carried `marker` does not come back: the connection ends
   * instead. Resolves when that has happened.
   */
  loseCommitAfter(marker: string): Promise<void> {
    return new Promise((done) => {
      this.losing = { marker: Buffer.from(marker), done };
    });
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((done) => this.listener.close(() => done()));
  }

  private join(client: Socket): void {
    if (this.refusing) {
      client.destroy();
      return;
    }
    const server = createConnection({ host: this.target.hostname, port: Number(this.target.port) });
    const pair = { client, server };
    this.pairs.add(pair);
    let lost: (() => void) | undefined;
    client.on('data', (data) => {
      if (this.losing && data.includes(this.losing.marker)) {
        lost = this.losing.done;
        this.losing = undefined;
      }
      server.write(data);
    });
    server.on('data', (data) => {
      // What the server says of a commit that it has made; the command itself may go by another name.
      if (!lost || !data.includes('COMMIT\0')) {
        client.write(data);
        return;
      }
      this.end(pair);
      lost();
    });
    for (const socket of [client, server]) {
      socket.on('error', () => this.end(pair));
      socket.on('close', () => this.end(pair));
    }
  }

  private end(pair: { client: Socket; server: Socket }): void {
    pair.client.destroy();
    pair.server.destroy();
    this.pairs.delete(pair);
  }
}
