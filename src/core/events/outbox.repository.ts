import { injectable } from 'inversify';
import { Database } from '../db/database';
import type { GatheredStatement, Op } from '../db/rows/op';
import type { LiveEventRecord } from './live-event-record';
import type { LiveEvent } from './outbox';

export const outboxChannel = 'vc_stack_outbox';

/** Where the table stands, all in one snapshot. Transaction ids are 64-bit and never wrap. */
export interface OutboxHead {
  /** The highest visible sequence number; 0 when the table is empty. */
  seq: number;
  /** Every transaction below it has ended. */
  xmin: bigint;
}

/** An event as it was when it was published: `subject` and `data` in JSON. */
interface Addition {
  type: string;
  projectId: string | null;
  everyone: boolean;
  subject: string;
  data: string;
}

const asJson = ({ type, projectId, everyone, subject, data }: Addition): string =>
  `{"type":${JSON.stringify(type)},"projectId":${JSON.stringify(projectId)},"everyone":${everyone},"subject":${subject},"data":${data}}`;

/** A condition without columns is met before the first row is made: the transaction's id comes before any number. */
const addition: GatheredStatement<Addition> = {
  sql: `INSERT INTO outbox (seq, type, project_id, everyone, subject, data)
    SELECT nextval('outbox_seq_seq'), e."type", e."projectId", e."everyone", e."subject", e."data"
      FROM jsonb_to_recordset($1::jsonb) AS e("type" text, "projectId" uuid, "everyone" boolean, "subject" jsonb, "data" jsonb)
     WHERE pg_current_xact_id() IS NOT NULL`,
  params: (events) => [`[${events.map(asJson).join(',')}]`],
  single: {
    sql: `INSERT INTO outbox (seq, type, project_id, everyone, subject, data)
      SELECT nextval('outbox_seq_seq'), $1::text, $2::uuid, $3::boolean, $4::jsonb, $5::jsonb WHERE pg_current_xact_id() IS NOT NULL`,
    params: ({ type, projectId, everyone, subject, data }) => [type, projectId, everyone, subject, data],
  },
};

/** Events that one statement forgets at most. */
const pruned = 5_000;

interface Row {
  seq: string;
  type: string;
  project_id: string | null;
  everyone: boolean;
  subject: { kind: string; id: string };
  data: Record<string, unknown>;
  at: string;
}

@injectable()
export class OutboxRepository {
  constructor(private readonly database: Database) {}

  /**
   * Adds an event and wakes the readers after the commit. The transaction takes its id before it draws the sequence
   * number: whoever drew a lower number has a lower id than any that is given out once this row is seen. The
   * dispatcher's order stands on that.
   */
  async add(op: Op, event: LiveEvent): Promise<void> {
    const { type, projectId, everyone = false, subject, data } = event;
    const stored = { type, projectId, everyone, subject: JSON.stringify(subject), data: JSON.stringify(data) };
    await op.gather(addition, stored);
    op.afterCommit(() => this.database.notify(outboxChannel));
  }

  async head(): Promise<OutboxHead> {
    const [row] = await this.database.query<{ seq: string; xmin: string }>(
      `SELECT coalesce((SELECT max(seq) FROM outbox), 0)::text AS seq, pg_snapshot_xmin(pg_current_snapshot())::text AS xmin`,
    );
    if (!row) throw new Error('the database gave no snapshot');
    return { seq: Number(row.seq), xmin: BigInt(row.xmin) };
  }

  /**
   * A new transaction id: higher than that of every transaction which has written anything up to now. A snapshot's xmax
   * is not, for it only counts those that ended.
   */
  async horizon(): Promise<bigint> {
    const [row] = await this.database.query<{ xid: string }>('SELECT pg_current_xact_id()::text AS xid');
    if (!row) throw new Error('the database gave no transaction id');
    return BigInt(row.xid);
  }

  /** Events with `after` < seq <= `upTo`, in order, at most `limit`. */
  async between(after: number, upTo: number, limit: number): Promise<LiveEventRecord[]> {
    const rows = await this.database.query<Row>(
      `SELECT seq::text AS seq, type, project_id, everyone, subject, data, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at
       FROM outbox WHERE seq > $1 AND seq <= $2 ORDER BY outbox.seq LIMIT $3`,
      [after, upTo, limit],
    );
    return rows.map((row) => ({
      seq: Number(row.seq),
      type: row.type,
      projectId: row.project_id,
      ...(row.everyone && { everyone: true }),
      subject: row.subject,
      data: row.data,
      at: row.at,
    }));
  }

  /** The lowest sequence number still kept; null when the table is empty. */
  async oldest(): Promise<number | null> {
    const [row] = await this.database.query<{ seq: string | null }>('SELECT min(seq)::text AS seq FROM outbox');
    return row?.seq == null ? null : Number(row.seq);
  }

  /** The highest sequence number that was ever given out, whether it became an event or not; 0 for none. */
  async lastDrawn(): Promise<number> {
    const [row] = await this.database.query<{ last: string }>(
      'SELECT CASE WHEN is_called THEN last_value ELSE 0 END::text AS last FROM outbox_seq_seq',
    );
    return Number(row?.last ?? 0);
  }

  /** Forgets events older than 24 hours, the oldest first. */
  async prune(): Promise<void> {
    for (let gone = pruned; gone === pruned; ) {
      const rows = await this.database.query(
        `WITH first AS MATERIALIZED (SELECT seq, created_at FROM outbox ORDER BY seq LIMIT ${pruned})
         DELETE FROM outbox USING first WHERE outbox.seq = first.seq AND first.created_at < now() - interval '24 hours' RETURNING outbox.seq`,
      );
      gone = rows.length;
    }
  }
}
