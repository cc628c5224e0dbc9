import { Pool } from 'pg';

const scratch =
  'CREATE TABLE IF NOT EXISTS bench_bare (id bigserial PRIMARY KEY, state text NOT NULL, data jsonb NOT NULL)';

/**
 * Bare transactions for comparison: each inserts one row and updates it, over `pg`, with statements prepared once per
 * connection. Nothing of ours is in between.
 */
export class BareTransactions {
  private readonly pool: Pool;

  private constructor(url: string, connections: number) {
    this.pool = new Pool({ connectionString: url, max: connections });
  }

  static async open(url: string, connections: number): Promise<BareTransactions> {
    const bare = new BareTransactions(url, connections);
    await bare.pool.query(scratch);
    return bare;
  }

  async one(): Promise<void> {
    const client = await this.pool.connect();
    try {
      await client.query('BEGIN');
      const { rows } = await client.query<{ id: string }>({
        name: 'bare_insert',
        text: 'INSERT INTO bench_bare (state, data) VALUES ($1, $2) RETURNING id',
        values: ['queued', '{"step":"one","progress":0}'],
      });
      await client.query({
        name: 'bare_update',
        text: 'UPDATE bench_bare SET state = $2 WHERE id = $1',
        values: [rows[0]?.id, 'running'],
      });
      await client.query('COMMIT');
    } finally {
      client.release();
    }
  }

  /** So many of them, one after the other. */
  async several(count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) await this.one();
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}
