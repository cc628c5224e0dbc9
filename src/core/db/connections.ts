import type { Pool, PoolClient, QueryResultRow } from 'pg';

/** What a connection is taken for: a request that somebody waits for, or work that the process does by itself. */
export type ConnectionUse = 'request' | 'work';

export interface TakenConnection {
  client: PoolClient;
  /** Once. @param close it is not used again */
  giveBack: (close: boolean) => void;
}

/** Of the connections work takes so much at most: a request seldom waits for one. */
const shareOfWork = 0.75;
/** Requests that go before work that waits longer; then it is its turn, so that it comes forward under any load. */
const mostAhead = 4;
/** Longest wait for a turn. Milliseconds; the pool's own is as long. */
const waitMs = 10_000;

/**
 * Gives out the connections of a pool. Under load work has always more to do than there are connections, and a request
 * that waits behind all of it is slow at each of its transactions: so requests go first.
 */
export class Connections {
  private readonly waiting: Record<ConnectionUse, (() => void)[]> = { request: [], work: [] };
  private readonly taken: Record<ConnectionUse, number> = { request: 0, work: 0 };
  private readonly mostOfWork: number;
  /** Requests that went before waiting work, one after the other. */
  private ahead = 0;

  /**
   * @param pool throws when there is none
   * @param size connections that it makes at most
   */
  constructor(
    private readonly pool: () => Pick<Pool, 'connect'>,
    private readonly size: number,
  ) {
    this.mostOfWork = Math.ceil(size * shareOfWork);
  }

  /** Throws what the pool throws, also when no connection came free for 10 s. */
  take(use: ConnectionUse): Promise<TakenConnection> {
    return new Promise((resolve, reject) => {
      this.connect(use, reject, (client, giveBack) => resolve({ client, giveBack }));
    });
  }

  /**
   * The rows of one statement by itself. By callbacks, as the pool's own: each promise more is felt where a statement is
   * most of a request. A connection on which it failed is closed. Throws as `take`, and what the statement does.
   */
  rows<R extends QueryResultRow>(use: ConnectionUse, sql: string, params: unknown[]): Promise<R[]> {
    return new Promise((resolve, reject) => {
      this.connect(use, reject, (client, giveBack) => {
        const ended = (error: unknown, rows: R[]): void => {
          giveBack(Boolean(error));
          if (error) reject(error as Error);
          else resolve(rows);
        };
        try {
          client.query<R>(sql, params, (error, result) => ended(error, result?.rows));
        } catch (error) {
          ended(error, []);
        }
      });
    });
  }

  private connect(
    use: ConnectionUse,
    refuse: (error: unknown) => void,
    begin: (client: PoolClient, giveBack: (close: boolean) => void) => void,
  ): void {
    const fail = (error: unknown): void => {
      this.free(use);
      refuse(error);
    };
    const open = (): void => {
      try {
        this.pool().connect((error, client) => {
          if (error || !client) {
            fail(error);
            return;
          }
          begin(client, (close) => {
            client.release(close);
            this.free(use);
          });
        });
      } catch (error) {
        fail(error);
      }
    };
    if (this.hasRoom(use)) {
      this.taken[use] += 1;
      open();
    } else this.wait(use, open, refuse);
  }

  private hasRoom(use: ConnectionUse): boolean {
    const { request, work } = this.taken;
    return request + work < this.size && (use === 'request' || work < this.mostOfWork);
  }

  /** Has `open` called when it is its turn; then it has its room. */
  private wait(use: ConnectionUse, open: () => void, refuse: (error: unknown) => void): void {
    const waiting = this.waiting[use];
    const begin = (): void => {
      clearTimeout(late);
      open();
    };
    const late = setTimeout(() => {
      waiting.splice(waiting.indexOf(begin), 1);
      refuse(new Error('timeout exceeded when trying to connect'));
    }, waitMs).unref();
    waiting.push(begin);
  }

  private free(use: ConnectionUse): void {
    this.taken[use] -= 1;
    for (let next = this.next(); next !== undefined; next = this.next()) {
      const begin = this.waiting[next].shift();
      this.taken[next] += 1;
      begin?.();
    }
  }

  /** Whose turn it is, if there is room for one. */
  private next(): ConnectionUse | undefined {
    const work = this.waiting.work.length > 0 && this.hasRoom('work');
    const request = this.waiting.request.length > 0 && this.hasRoom('request');
    if (work && (!request || this.ahead === mostAhead)) {
      this.ahead = 0;
      return 'work';
    }
    if (work) this.ahead += 1;
    return request ? 'request' : undefined;
  }
}
