import { createHash } from 'node:crypto';
import { injectable } from 'inversify';
import { Database } from '../db/database';
import type { Op } from '../db/op';

/** A request under an `Idempotency-Key`. Keys belong to their principal. */
export interface KeyedRequest {
  principalId: string;
  key: string;
  method: string;
  /** With its query. */
  path: string;
  body: unknown;
}

export interface KeptAnswer {
  status: number;
  headers: Record<string, string>;
  /** Serialized JSON; null for an empty answer. */
  body: string | null;
}

export type Claim = { kind: 'first' } | { kind: 'replay'; answer: KeptAnswer } | { kind: 'reused' };

/** JSON with sorted keys: equal bodies give equal text. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, child]) => `${JSON.stringify(key)}:${canonical(child)}`).join(',')}}`;
};

/** Answers of requests with an `Idempotency-Key`, kept in the transaction that made the change, for 24 hours. */
@injectable()
export class IdempotencyRepository {
  constructor(private readonly database: Database) {}

  /**
   * Takes the key for this transaction. While another transaction holds it, this waits for that one's end: then either its answer is
   * there to be replayed, or it rolled back and the key is free.
   */
  async claim(op: Op, request: KeyedRequest): Promise<Claim> {
    const hash = createHash('sha256').update(canonical(request.body)).digest();
    const taken = await this.database.query(
      `INSERT INTO idempotency_key (principal_id, key, method, path, request_hash) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (principal_id, key) DO NOTHING RETURNING key`,
      [request.principalId, request.key, request.method, request.path, hash],
      op,
    );
    if (taken.length > 0) return { kind: 'first' };
    const [row] = await this.database.query<{ same: boolean; status: number; headers: Record<string, string>; body: string | null }>(
      `SELECT method = $3 AND path = $4 AND request_hash = $5 AS same, status, headers, body
       FROM idempotency_key WHERE principal_id = $1 AND key = $2 AND status IS NOT NULL`,
      [request.principalId, request.key, request.method, request.path, hash],
      op,
    );
    // The row can only be gone when it was pruned between the two statements: the key is free, the caller may try again.
    if (!row) return this.claim(op, request);
    return row.same ? { kind: 'replay', answer: { status: row.status, headers: row.headers, body: row.body } } : { kind: 'reused' };
  }

  /** Keeps the answer in the claiming transaction. */
  async keep(op: Op, request: KeyedRequest, answer: KeptAnswer): Promise<void> {
    await this.database.query(
      'UPDATE idempotency_key SET status = $3, headers = $4, body = $5 WHERE principal_id = $1 AND key = $2',
      [request.principalId, request.key, answer.status, JSON.stringify(answer.headers), answer.body],
      op,
    );
  }

  /** Forgets answers older than 24 hours. */
  async prune(): Promise<void> {
    await this.database.query(`DELETE FROM idempotency_key WHERE created_at < now() - interval '24 hours'`);
  }
}
