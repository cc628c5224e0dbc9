import { injectable } from 'inversify';
import { Conditions } from '../../../../core/db/rows/conditions';
import { keysetPage, rowsInOrder } from '../../../../core/db/rows/keyset';
import { findRow, findRows, removeRows, rowExists } from '../../../../core/db/rows/rows';
import type { Op } from '../../../../core/db/rows/op';
import { looksLikeId } from '../../../../core/http/routes/fields';
import type { Beat, NodeAbilities, NodeEndpoint } from '../../../../core/m2m/management/node-registry';
import type { NodeRevisions } from '../../../../core/m2m/verbs/revisions';
import { roomOfNodes } from '../../contract/cpu-topology';
import type { HostListQuery, HostState, Inventory } from '../../contract/host.api';
import { HostConditionEntity } from '../conditions/host-condition.entity';
import { HostInventoryEntity } from './host-inventory.entity';
import { hugePagesOf, plainMemory } from './host-memory';
import type { ConditionFact, HostEvaluation } from './host-state';
import { HostEntity } from './host.entity';

export interface BeatRow {
  heartbeatOk: boolean;
  clockOk: boolean;
  /** How far the host's clock is behind the database's, milliseconds. */
  behindMs: number;
}

export type HostFacts = Pick<
  HostEntity,
  | 'id'
  | 'name'
  | 'address'
  | 'state'
  | 'schedulable'
  | 'architecture'
  | 'threads'
  | 'nodes'
  | 'memoryBytes'
  | 'hugePages'
  | 'diskBytes'
  | 'parts'
  | 'revisions'
  | 'stores'
> & { reason: string };

/** What many hosts have alike. */
type Shared = 'parts' | 'revisions' | 'stores' | 'nodes';

const plainFacts = `id, name, address, state, schedulable, state_reason AS reason, architecture, threads, memory_bytes::float8 AS "memoryBytes", huge_pages AS "hugePages", disk_bytes::float8 AS "diskBytes"`;
const facts = `${plainFacts}, parts, revisions, stores, nodes`;

@injectable()
export class HostRepository {
  /** False when the name is taken. */
  async insert(
    op: Op,
    host: { id: string; name: string; address: string; port: number; evaluation: HostEvaluation },
  ): Promise<boolean> {
    const { state, schedulable, reason } = host.evaluation;
    const rows = await op.query(
      `INSERT INTO host (id, name, address, port, state, schedulable, state_reason) VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT ((lower(name))) DO NOTHING RETURNING id`,
      [host.id, host.name, host.address, host.port, state, schedulable, reason],
    );
    return rows.length > 0;
  }

  async find(op: Op, ref: string): Promise<HostEntity | null> {
    if (looksLikeId(ref)) return findRow(op, HostEntity, { id: ref.toLowerCase() });
    const named = new Conditions();
    named.add(`lower(h.name) = lower(${named.bind(ref)})`);
    return (await rowsInOrder(op, HostEntity, named, { alias: 'h', order: 'h.id', limit: 1 }))[0] ?? null;
  }

  list(op: Op, query: HostListQuery): Promise<{ rows: HostEntity[]; next: string | null }> {
    const found = new Conditions()
      .equal('h.state', query.state)
      .search(query.q, { ids: ['h.id'], texts: ['h.name', 'h.address'] });
    return keysetPage(op, HostEntity, found, {
      alias: 'h',
      column: 'name',
      type: 'text',
      descending: false,
      sort: 'name',
      limit: query.limit,
      cursor: query.cursor,
    });
  }

  /**
   * What placement looks at, of all hosts: read every second, so without the detour over entities. Many hosts say the
   * same of themselves; it is read once, and shared by their rows.
   */
  async all(op: Op): Promise<HostFacts[]> {
    const rows = await op.query<Omit<HostFacts, Shared> & Record<Shared, string | null>>(
      `SELECT ${plainFacts}, parts::text, revisions::text, stores::text, nodes::text FROM host ORDER BY name`,
    );
    const known = new Map<string, unknown>();
    const parsed = <K extends Shared>(text: string | null): HostFacts[K] => {
      if (text !== null && !known.has(text)) known.set(text, JSON.parse(text));
      return (text === null ? null : known.get(text)) as HostFacts[K];
    };
    return rows.map((row) => ({
      ...row,
      parts: parsed<'parts'>(row.parts),
      revisions: parsed<'revisions'>(row.revisions),
      stores: parsed<'stores'>(row.stores),
      nodes: parsed<'nodes'>(row.nodes),
    }));
  }

  async candidate(op: Op, id: string): Promise<HostFacts | undefined> {
    return (await op.query<HostFacts>(`SELECT ${facts} FROM host WHERE id = $1`, [id]))[0];
  }

  async names(op: Op, ids: string[]): Promise<Map<string, string>> {
    if (ids.length === 0) return new Map();
    const rows = await op.query<{ id: string; name: string }>('SELECT id, name FROM host WHERE id = ANY($1::uuid[])', [
      ids,
    ]);
    return new Map(rows.map((row) => [row.id, row.name]));
  }

  async endpoint(op: Op, id: string): Promise<NodeEndpoint | null> {
    const rows = await op.query<NodeEndpoint>('SELECT address, port FROM host WHERE id = $1', [id]);
    return rows[0] ?? null;
  }

  async abilities(op: Op, id: string): Promise<NodeAbilities | null> {
    const rows = await op.query<NodeAbilities>(
      'SELECT name, agent_version AS release, revisions FROM host WHERE id = $1',
      [id],
    );
    return rows[0] ?? null;
  }

  async putRevisions(op: Op, id: string, revisions: NodeRevisions): Promise<void> {
    await op.query('UPDATE host SET revisions = $2 WHERE id = $1 AND revisions IS DISTINCT FROM $2::jsonb', [
      id,
      JSON.stringify(revisions),
    ]);
  }

  /** Locks the host until the transaction ends: conditions of one host are changed by one at a time. */
  async lock(op: Op, id: string): Promise<HostEntity | null> {
    return findRow(op, HostEntity, { id }, { lock: 'FOR UPDATE' });
  }

  async setEvaluation(
    op: Op,
    id: string,
    evaluation: { state: HostState; schedulable: boolean; reason: string },
  ): Promise<void> {
    await op.query('UPDATE host SET state = $2, schedulable = $3, state_reason = $4 WHERE id = $1', [
      id,
      evaluation.state,
      evaluation.schedulable,
      evaluation.reason,
    ]);
  }

  /** Null when the beat was overtaken or the host is not there. */
  async beat(op: Op, id: string, beat: Beat): Promise<BeatRow | null> {
    const rows = await op.query<BeatRow>(
      `UPDATE host SET last_seen_at = clock_timestamp(), agent_boot = $2, agent_seq = $3, address = $4, port = $5, agent_version = $6
       WHERE id = $1 AND (agent_boot IS DISTINCT FROM $2::uuid OR agent_seq < $3)
       RETURNING heartbeat_ok AS "heartbeatOk", clock_ok AS "clockOk", (extract(epoch FROM clock_timestamp()) * 1000 - $7)::float8 AS "behindMs"`,
      [id, beat.boot, beat.seq, beat.endpoint.address, beat.endpoint.port, beat.agentVersion, beat.time],
    );
    return rows[0] ?? null;
  }

  /**
   * As `beat`, for many hosts in one statement, each at most once. Of hosts whose row somebody holds nothing is
   * written: they are missing, and so are those that have nothing newer or are gone.
   */
  async beats(op: Op, beats: readonly { id: string; beat: Beat }[]): Promise<Map<string, BeatRow>> {
    const rows = await op.query<BeatRow & { id: string }>(
      `WITH b AS MATERIALIZED (
         SELECT * FROM jsonb_to_recordset($1::jsonb) AS b(id uuid, boot uuid, seq bigint, address text, port int, version text, time float8)
       ), newer AS MATERIALIZED (
         SELECT h.id FROM b JOIN host h ON h.id = b.id WHERE h.agent_boot IS DISTINCT FROM b.boot OR h.agent_seq < b.seq
         ORDER BY h.id FOR NO KEY UPDATE OF h SKIP LOCKED)
       UPDATE host h SET last_seen_at = clock_timestamp(), agent_boot = b.boot, agent_seq = b.seq, address = b.address, port = b.port, agent_version = b.version
       FROM b JOIN newer ON newer.id = b.id WHERE h.id = b.id
       RETURNING h.id, h.heartbeat_ok AS "heartbeatOk", h.clock_ok AS "clockOk", (extract(epoch FROM clock_timestamp()) * 1000 - b.time)::float8 AS "behindMs"`,
      [
        JSON.stringify(
          beats.map(({ id, beat: { boot, seq, endpoint, agentVersion, time } }) => ({
            id,
            boot,
            seq,
            ...endpoint,
            version: agentVersion,
            time,
          })),
        ),
      ],
    );
    return new Map(rows.map(({ id, ...row }) => [id, row]));
  }

  async exists(op: Op, id: string): Promise<boolean> {
    return rowExists(op, HostEntity, { id });
  }

  async setHeartbeatOk(op: Op, id: string): Promise<void> {
    await op.query('UPDATE host SET heartbeat_ok = true WHERE id = $1', [id]);
  }

  async setClockOk(op: Op, id: string, ok: boolean): Promise<void> {
    await op.query('UPDATE host SET clock_ok = $2 WHERE id = $1', [id, ok]);
  }

  /**
   * Marks all hosts that were silent for longer, and returns which were not marked before.
   * @param at the database's time of which this is judged, milliseconds since 1970
   */
  async markSilent(op: Op, at: number, silentAfterMs: number): Promise<string[]> {
    const rows = await op.query<{ id: string }>(
      'UPDATE host SET heartbeat_ok = false WHERE heartbeat_ok AND last_seen_at < to_timestamp($1) RETURNING id',
      [(at - silentAfterMs) / 1000],
    );
    return rows.map((row) => row.id);
  }

  conditions(op: Op, hostIds: string[]): Promise<HostConditionEntity[]> {
    if (hostIds.length === 0) return Promise.resolve([]);
    return findRows(op, HostConditionEntity, { hostId: hostIds }, { order: 'type' });
  }

  /** `since` moves only when the status does. */
  async putCondition(op: Op, hostId: string, fact: ConditionFact): Promise<void> {
    await op.query(
      `INSERT INTO host_condition (host_id, type, status, reason, message, since) VALUES ($1, $2, $3, $4, $5, clock_timestamp())
       ON CONFLICT (host_id, type) DO UPDATE SET status = EXCLUDED.status, reason = EXCLUDED.reason, message = EXCLUDED.message,
         since = CASE WHEN host_condition.status = EXCLUDED.status THEN host_condition.since ELSE EXCLUDED.since END`,
      [hostId, fact.type, fact.status, fact.reason, fact.message],
    );
  }

  async inventory(op: Op, hostId: string): Promise<Inventory | null> {
    return (await findRow(op, HostInventoryEntity, { hostId }))?.data ?? null;
  }

  /**
   * False when it is what is stored already, or when a restarted agent still examines the host: what it found before
   * stands until it is done, so that a restart does not take a ready host out of service.
   */
  async putInventory(
    op: Op,
    hostId: string,
    inventory: Inventory,
    { parts, stores }: Pick<HostEntity, 'parts' | 'stores'>,
  ): Promise<boolean> {
    const rows = await op.query(
      `INSERT INTO host_inventory (host_id, data) VALUES ($1, $2)
       ON CONFLICT (host_id) DO UPDATE SET data = EXCLUDED.data, updated_at = now() WHERE host_inventory.data IS DISTINCT FROM EXCLUDED.data
         AND NOT (EXCLUDED.data->>'complete' = 'false' AND host_inventory.data->>'complete' IS DISTINCT FROM 'false')
       RETURNING host_id`,
      [hostId, JSON.stringify(inventory)],
    );
    if (rows.length === 0) return false;
    const nodes = roomOfNodes(inventory.cpu.nodes);
    const aside = nodes.reduce((sum, node) => sum + node.dedicatedCpus, 0);
    const diskBytes = stores.reduce((sum, store) => sum + store.bytes, 0);
    await op.query(
      'UPDATE host SET architecture = $2, threads = $3, memory_bytes = $4, disk_bytes = $5, parts = $6, stores = $7, huge_pages = $8, nodes = $9 WHERE id = $1',
      [
        hostId,
        inventory.architecture,
        inventory.cpu.threads - aside,
        plainMemory(inventory.memory),
        diskBytes,
        JSON.stringify(parts),
        JSON.stringify(stores),
        JSON.stringify(hugePagesOf(inventory.memory)),
        JSON.stringify(nodes),
      ],
    );
    return true;
  }

  async remove(op: Op, id: string): Promise<void> {
    await removeRows(op, HostEntity, { id });
  }
}
