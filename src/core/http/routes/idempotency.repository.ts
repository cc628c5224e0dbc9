import { injectable } from 'inversify';
import { MasterKey } from '../../crypto/master-key';
import { Database } from '../../db/database';
import type { Op } from '../../db/rows/op';

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

/** The projects that a request was granted, null for the system: see `Access.asserted`. */
export type Grants = readonly (string | null)[];

export type Claim = { kind: 'first' } | { kind: 'replay'; answer: KeptAnswer; granted: Grants } | { kind: 'reused' };

/** How what belongs to no project is written among the grants. */
const system = 'system';
const sealPurpose = 'idempotency-answer';

interface Row extends KeptAnswer {
  same: boolean;
  granted: string[] | null;
  sealed: boolean;
}

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
  constructor(
    private readonly database: Database,
    private readonly masterKey: MasterKey,
  ) {}

  /**
   * Takes the key for this transaction. While another transaction holds it, this waits for that one's end: then either
   * its answer is there to be replayed, or it rolled back and the key is free.
   */
  async claim(op: Op, request: KeyedRequest): Promise<Claim> {
    // With a key: what was asked may hold a password, which a plain digest would give to whoever guesses.
    const hash = this.masterKey.mac(canonical(request.body), 'idempotency-request');
    const taken = await this.database.query(
      `INSERT INTO idempotency_key (principal_id, key, method, path, request_hash) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (principal_id, key) DO NOTHING RETURNING key`,
      [request.principalId, request.key, request.method, request.path, hash],
      op,
    );
    if (taken.length > 0) return { kind: 'first' };
    const [row] = await this.database.query<Row>(
      `SELECT method = $3 AND path = $4 AND request_hash = $5 AS same, status, headers, body, granted, sealed
       FROM idempotency_key WHERE principal_id = $1 AND key = $2 AND status IS NOT NULL`,
      [request.principalId, request.key, request.method, request.path, hash],
      op,
    );
    // The row can only be gone when it was pruned between the two statements: the key is free, the caller may try
    // again.
    if (!row) return this.claim(op, request);
    if (!row.same) return { kind: 'reused' };
    const body =
      row.sealed && row.body !== null ? this.masterKey.open(row.body, sealPurpose).toString('utf8') : row.body;
    return {
      kind: 'replay',
      answer: { status: row.status, headers: row.headers, body },
      granted: (row.granted ?? []).map((project) => (project === system ? null : project)),
    };
  }

  /**
   * Keeps the answer in the claiming transaction.
   * @param secret the answer holds a secret: it is sealed
   */
  async keep(op: Op, request: KeyedRequest, answer: KeptAnswer, granted: Grants, secret: boolean): Promise<void> {
    const body = secret && answer.body !== null ? this.masterKey.seal(answer.body, sealPurpose) : answer.body;
    await this.database.query(
      'UPDATE idempotency_key SET status = $3, headers = $4, body = $5, granted = $6, sealed = $7 WHERE principal_id = $1 AND key = $2',
      [
        request.principalId,
        request.key,
        answer.status,
        JSON.stringify(answer.headers),
        body,
        granted.map((project) => project ?? system),
        secret,
      ],
      op,
    );
  }

  /** Forgets answers older than 24 hours. */
  async prune(): Promise<void> {
    await this.database.query(`DELETE FROM idempotency_key WHERE created_at < now() - interval '24 hours'`);
  }
}
