import { injectable } from 'inversify';
import { atOnce } from '../../../../core/db/at-once';
import { findRow, findRows, insertRow, removeRows, updateRow } from '../../../../core/db/rows/rows';
import type { z } from 'zod';
import type { Op } from '../../../../core/db/rows/op';
import type { InUseBy } from '../../../../core/errors/in-use';
import { JoinedReads } from '../../../../core/db/rows/joined-reads';
import { keysetPage, mostIds, rowsInOrder, rowsWithIds } from '../../../../core/db/rows/keyset';
import { Conditions } from '../../../../core/db/rows/conditions';
import { InstancePorts, type WantedNic } from '../../../network/contract/network.ports';
import { violatedUnique } from '../../../../core/db/sql-state';
import { nameTaken } from '../../../../core/errors/problem';
import type { instanceListQuery } from '../../contract/compute.api';
import { instanceStates, reportedStates, restingStates } from '../../contract/instance-states';
import type { InstanceExit, InstanceGuest, ObservedInstance } from '../../contract/instance.verbs';
import { InstanceEntity, type RecordedGuest, type ShownInstance, shownOfInstance } from './instance.entity';
import { reasonInWords } from './state-reason';

/** An instance whose state an observation changed. */
export interface ObservedChange {
  id: string;
  project_id: string;
  name: string;
  state: string;
  state_reason: string;
  task_id: string | null;
  /** Of the newest report. */
  observed_state: string | null;
  /** How its machine ended, when this observation was the first to tell; else null. */
  ended?: InstanceExit | null;
  /** What its guest did, when this observation was the first to tell; `before`: what was known. */
  guest?: { now: InstanceGuest; before: RecordedGuest | null } | null;
}

/** What its users may change of an instance at once. */
export type Edited = {
  [K in 'name' | 'description' | 'stopGraceSeconds' | 'restartPolicy' | 'tags' | 'protected' | 'lock']?:
    | InstanceEntity[K]
    | undefined;
};

/** For statements: words of ours, none of a tenant's. */
const resting = restingStates.map((state) => `'${state}'`).join(', ');
const reported = reportedStates.map((state) => `'${state}'`).join(', ');
/** What an instance is called whose host reports that state: one in rescue that runs is `rescued`. */
const called = (state: string, rescue = 'rescue'): string =>
  `CASE WHEN ${state} = 'running' AND ${rescue} IS NOT NULL THEN 'rescued' ELSE ${state} END`;

const sorts = {
  name: { column: 'name', type: 'text', descending: false },
  '-name': { column: 'name', type: 'text', descending: true },
  createdAt: { column: 'created_at', type: 'timestamptz', descending: false },
  '-createdAt': { column: 'created_at', type: 'timestamptz', descending: true },
} as const;

const shownRead = (ports: InstancePorts) => ({
  alias: 'i',
  properties: shownOfInstance,
  also: { ports: ports.shownOf('i.id') },
});

@injectable()
export class InstanceRepository {
  private readonly joined = new JoinedReads<Op, ShownInstance>((op, ids) => this.shownWith(op, ids), mostIds);
  private shownRead: ReturnType<typeof shownRead> | undefined;

  constructor(private readonly ports: InstancePorts) {}

  /** What is read of instances that are shown. */
  private get read(): ReturnType<typeof shownRead> {
    return (this.shownRead ??= shownRead(this.ports));
  }

  /** False when another instance of the project has its hostname. */
  insert(op: Op, instance: InstanceEntity): Promise<boolean> {
    return insertRow(op, InstanceEntity, instance, ['projectId', 'hostname']);
  }

  byId(op: Op, id: string): Promise<InstanceEntity | null> {
    return findRow(op, InstanceEntity, { id });
  }

  byIds(op: Op, ids: readonly string[]): Promise<InstanceEntity[]> {
    return findRows(op, InstanceEntity, { id: ids }, { order: 'id' });
  }

  /**
   * Those of the ids that the task holds, locked until the transaction ends: no other verb takes one over meanwhile.
   */
  lockHeldBy(op: Op, ids: readonly string[], taskId: string): Promise<InstanceEntity[]> {
    return findRows(op, InstanceEntity, { id: ids, taskId }, { order: 'id', lock: 'FOR UPDATE' });
  }

  /** Row locked until the transaction ends: verbs on one instance come one after the other. */
  lock(op: Op, id: string): Promise<InstanceEntity | null> {
    return findRow(op, InstanceEntity, { id }, { lock: 'FOR UPDATE' });
  }

  named(op: Op, projects: 'all' | readonly string[], name: string): Promise<InstanceEntity[]> {
    return findRows(op, InstanceEntity, { name, ...(projects !== 'all' && { projectId: projects }) }, { limit: 2 });
  }

  /** Those of the names that instances of the project have. */
  async namesTaken(op: Op, projectId: string, names: readonly string[]): Promise<string[]> {
    return (
      await op.query<{ name: string }>(
        'SELECT name FROM instance WHERE project_id = $1 AND name = ANY($2::text[]) ORDER BY name',
        [projectId, names],
      )
    ).map((row) => row.name);
  }

  /** Those of the hostnames that instances of the project have. */
  async hostnamesTaken(op: Op, projectId: string, hostnames: readonly string[]): Promise<string[]> {
    return (
      await op.query<{ hostname: string }>(
        'SELECT hostname FROM instance WHERE project_id = $1 AND hostname = ANY($2::text[])',
        [projectId, hostnames],
      )
    ).map((row) => row.hostname);
  }

  /** `atAddress`: instances that `filter.q` finds by an address. */
  list(
    op: Op,
    projects: 'all' | readonly string[],
    filter: z.output<typeof instanceListQuery>,
    hostId: string | undefined,
    atAddress: readonly string[] = [],
  ): Promise<{ rows: ShownInstance[]; next: string | null }> {
    const found = new Conditions()
      .within('i.project_id', projects)
      .oneOf('i.state', filter.state, instanceStates)
      .equal('i.name', filter.name)
      .equal('i.host_id', hostId);
    if (filter.tag !== undefined) found.add(`i.tags @> ${found.bind(JSON.stringify([filter.tag]))}::jsonb`);
    const more = atAddress.length > 0 ? [`i.id = ANY(${found.bind(atAddress)}::uuid[])`] : [];
    found.search(filter.q, { ids: ['i.id'], texts: ['i.name'] }, more);
    return keysetPage(op, InstanceEntity, found, {
      ...this.read,
      ...sorts[filter.sort],
      sort: filter.sort,
      limit: filter.limit,
      cursor: filter.cursor,
    });
  }

  /** As it is shown, with its ports. Of many that are asked for at a time several are one statement. */
  async shown(op: Op, id: string): Promise<ShownInstance | null> {
    const found = op.inTransaction ? (await this.shownWith(op, [id])).get(id) : await this.joined.of(op, id);
    return found ?? null;
  }

  shownNamed(op: Op, projects: 'all' | readonly string[], name: string): Promise<ShownInstance[]> {
    const found = new Conditions().within('i.project_id', projects).equal('i.name', name);
    return rowsInOrder(op, InstanceEntity, found, { ...this.read, order: 'i.id', limit: 2 });
  }

  /** False when the row is gone. */
  update(op: Op, id: string, changes: Partial<Omit<InstanceEntity, 'id' | 'nics' | 'sshKeys'>>): Promise<boolean> {
    return updateRow(op, InstanceEntity, id, changes);
  }

  /** Which networks it uses, or is about to. */
  async setNics(op: Op, id: string, nics: readonly WantedNic[]): Promise<void> {
    await op.query('UPDATE instance SET nics = $2::jsonb WHERE id = $1', [id, JSON.stringify(nics)]);
  }

  /** What its owner may change of it. Throws 409 `name_taken`; the transaction is lost then. */
  async edit(op: Op, id: string, changes: Edited): Promise<void> {
    await updateRow(op, InstanceEntity, id, changes).catch((error: unknown) => {
      throw violatedUnique(error) === 'instance_name' ? nameTaken('instance', changes.name ?? '') : error;
    });
  }

  /** Passes the hold on an instance from one task to another, unless a third one has taken it meanwhile. */
  async handOver(op: Op, id: string, fromTaskId: string, toTaskId: string): Promise<void> {
    await op.query('UPDATE instance SET task_id = $3 WHERE id = $1 AND task_id = $2', [id, fromTaskId, toTaskId]);
  }

  /** False when the row was gone already. */
  async remove(op: Op, id: string): Promise<boolean> {
    return (await removeRows(op, InstanceEntity, { id })) > 0;
  }

  /**
   * Records what its host answered a task, unless a report that left the host later is known already: then that one
   * holds. Ends the task's hold on it, unless another task took it over: a delete that came meanwhile keeps its own.
   * One statement, for what came between a look and a write would be overwritten. Undefined when the row is gone.
   */
  async settle(op: Op, id: string, taskId: string, observed: ObservedInstance): Promise<ObservedChange | undefined> {
    const newer = (value: string, column: string): string =>
      `${column} = CASE WHEN observed_revision > $7 THEN ${column} ELSE ${value} END`;
    const state = `CASE WHEN observed_revision > $7 THEN observed_state ELSE $4::text END`;
    const rows = await op.query<ObservedChange>(
      `UPDATE instance SET ${newer("coalesce(nullif($3, ''), vmm)", 'vmm')}, ${newer('$4::text', 'observed_state')}, ${newer('clock_timestamp()', 'observed_at')}, ${newer('$5::timestamptz', 'started_at')},
         observed_revision = greatest(observed_revision, $7), ${newer('coalesce($8::jsonb, last_exit)', 'last_exit')}, ${newer('$9::jsonb', 'dedicated_cpus')},
         state = CASE WHEN task_id IS DISTINCT FROM $2 THEN state WHEN ${state} IN (${reported}) THEN ${called(state)} ELSE 'error' END,
         state_reason = CASE WHEN task_id IS DISTINCT FROM $2 THEN state_reason WHEN observed_revision <= $7 OR observed_state = $4 THEN $6 WHEN observed_state = 'crashed' THEN 'it crashed right after' ELSE '' END,
         task_id = NULLIF(task_id, $2)
       FROM (SELECT id AS locked, last_exit AS exit_before FROM instance WHERE id = $1 FOR UPDATE) before
       WHERE id = locked RETURNING id, project_id, name, state, state_reason, task_id, observed_state,
         CASE WHEN last_exit IS DISTINCT FROM exit_before THEN last_exit END AS ended`,
      [
        ...[id, taskId, observed.vmm, observed.state, observed.startedAt, reasonInWords(observed), observed.revision],
        observed.exit === null ? null : JSON.stringify(observed.exit),
        observed.dedicatedCpus === null ? null : JSON.stringify(observed.dedicatedCpus),
      ],
    );
    return rows[0];
  }

  /**
   * Ends a task's hold: the last observed state holds again, or `stopped` when it was turned off. Undefined when it was
   * another's, or the row is gone.
   * @param reason null: what it is holds
   */
  async release(
    op: Op,
    id: string,
    taskId: string,
    reason: string | null,
    turnedOff: boolean,
  ): Promise<ObservedChange | undefined> {
    const rows = await op.query<ObservedChange>(
      `UPDATE instance SET state = CASE WHEN $4::boolean THEN 'stopped' WHEN observed_state IN (${reported}) THEN ${called('observed_state')} ELSE 'error' END,
         power = CASE WHEN $4 THEN 'off' WHEN observed_state IN ('running', 'paused', 'suspended') THEN 'on' ELSE power END, state_reason = coalesce($3, state_reason), task_id = NULL
       WHERE id = $1 AND task_id = $2 RETURNING id, project_id, name, state, state_reason, task_id, observed_state`,
      [id, taskId, reason, turnedOff],
    );
    return rows[0];
  }

  /**
   * Takes a host's whole report in two statements. Instances with a live task keep their state (the task owns it);
   * others follow what was observed. A report that left the host before the newest one that was taken (a verb's answer
   * is one too) changes nothing; a host that cannot tell the state any more counts its reports no further. An instance that its host does not report although it should is an error after 15 s of
   * grace, for a report may be older than the start.
   */
  async observe(op: Op, hostId: string, reported: ObservedInstance[]): Promise<ObservedChange[]> {
    const held = 'i.task_id IS NOT NULL OR r.instance_id IS NOT NULL';
    const seen = called('o.state', 'i.rescue');
    const [exit, guest, cpus] = ['exit', 'guest', '"dedicatedCpus"'].map((column) => `NULLIF(o.${column}, 'null')`);
    const change = op.query<ObservedChange>(
      `UPDATE instance i SET observed_state = o.state, observed_revision = greatest(i.observed_revision, o.revision), observed_at = now(),
         started_at = CASE o.state WHEN 'unknown' THEN i.started_at ELSE o."startedAt" END, vmm = coalesce(nullif(o.vmm, ''), i.vmm),
         last_exit = CASE o.state WHEN 'unknown' THEN i.last_exit ELSE coalesce(${exit}, i.last_exit) END,
         guest = CASE o.state WHEN 'unknown' THEN i.guest ELSE coalesce(${guest}, i.guest) END,
         dedicated_cpus = CASE o.state WHEN 'unknown' THEN i.dedicated_cpus ELSE ${cpus} END,
         state = CASE WHEN ${held} THEN i.state WHEN o.state = 'crashed' THEN 'error' ELSE ${seen} END,
         state_reason = CASE WHEN ${held} THEN i.state_reason ELSE o.words END,
         power = CASE WHEN i.task_id IS NULL AND o.state = 'stopped' AND o.reason = 'guest' THEN 'off' ELSE i.power END
       FROM jsonb_to_recordset($2::jsonb) AS o("instanceId" uuid, generation int, state text, reason text, words text, vmm text, "startedAt" timestamptz, revision bigint, exit jsonb, guest jsonb, "dedicatedCpus" jsonb)
         JOIN instance old ON old.id = o."instanceId" LEFT JOIN instance_tombstone r ON r.instance_id = old.id
       WHERE i.id = old.id AND i.host_id = $1 AND (o.revision >= i.observed_revision OR o.state = 'unknown') AND o.state <> 'absent'
         AND (i.observed_at IS NULL OR i.observed_at < now() - interval '60 seconds' OR i.observed_state IS DISTINCT FROM o.state OR ${exit} <> coalesce(i.last_exit, '{}') OR ${guest} <> coalesce(i.guest, '{}') OR (o.state <> 'unknown' AND ${cpus} IS DISTINCT FROM i.dedicated_cpus) OR (NOT (${held}) AND i.state <> CASE o.state WHEN 'crashed' THEN 'error' ELSE ${seen} END))
       RETURNING i.id, i.project_id, i.name, i.state, i.state_reason, i.task_id, i.observed_state,
         CASE WHEN i.last_exit IS DISTINCT FROM old.last_exit THEN i.last_exit END AS ended,
         CASE WHEN i.guest IS DISTINCT FROM old.guest THEN jsonb_build_object('now', i.guest, 'before', old.guest) END AS guest`,
      [hostId, JSON.stringify(reported.map((r) => ({ ...r, words: reasonInWords(r) })))],
    );
    const loss = op.query<ObservedChange>(
      `UPDATE instance SET state = 'error', state_reason = 'its host has no trace of it', observed_state = 'absent', observed_revision = 0, observed_at = now()
       WHERE host_id = $1 AND task_id IS NULL AND state IN (${resting}, 'unknown') AND NOT (id = ANY($2::uuid[]))
         AND coalesce(observed_at, created_at) < now() - interval '15 seconds'
       RETURNING id, project_id, name, state, state_reason, task_id, observed_state`,
      [hostId, reported.map((r) => r.instanceId)],
    );
    return (await atOnce(change, loss)).flat();
  }

  /**
   * Instances of silent hosts become `unknown`; the reason of their last state is kept for when the host is heard
   * again.
   */
  markUnknown(op: Op, hostIds: string[]): Promise<ObservedChange[]> {
    return op.query<ObservedChange>(
      `UPDATE instance SET state = 'unknown' WHERE host_id = ANY($1) AND task_id IS NULL AND state IN (${resting})
       RETURNING id, project_id, name, state, state_reason, task_id, observed_state`,
      [hostIds],
    );
  }

  /**
   * Hosts that are heard again: their instances are what they were last seen to be; a change since then comes with the
   * host's own report.
   */
  markKnown(op: Op, hostIds: string[]): Promise<ObservedChange[]> {
    return op.query<ObservedChange>(
      `UPDATE instance SET state = ${called('observed_state')} WHERE host_id = ANY($1) AND task_id IS NULL AND state = 'unknown' AND observed_state IN (${reported})
       RETURNING id, project_id, name, state, state_reason, task_id, observed_state`,
      [hostIds],
    );
  }

  /** Instances made from the image. */
  ofImage(op: Op, imageId: string, limit: number): Promise<UsersFound> {
    return this.users(op, 'image_id = $1', imageId, limit);
  }

  /** Instances with a card on the network, or that are to have one. */
  onNetwork(op: Op, network: { id: string; projectId: string }, limit: number): Promise<UsersFound> {
    return this.users(
      op,
      `project_id = $1 AND nics @> jsonb_build_array(jsonb_build_object('networkId', $3::text))`,
      network.projectId,
      limit,
      network.id,
    );
  }

  /** Instances on the host. */
  onHost(op: Op, hostId: string, limit: number): Promise<UsersFound> {
    return this.users(op, 'host_id = $1', hostId, limit);
  }

  /** Instances of the project. */
  ofProject(op: Op, projectId: string, limit: number): Promise<UsersFound> {
    return this.users(op, 'project_id = $1', projectId, limit);
  }

  private async shownWith(op: Op, ids: readonly string[]): Promise<Map<string, ShownInstance>> {
    return new Map((await rowsWithIds(op, InstanceEntity, ids, this.read)).map((instance) => [instance.id, instance]));
  }

  /** The first by name, and how many there are. */
  private async users(op: Op, condition: string, value: string, limit: number, ...more: string[]): Promise<UsersFound> {
    const rows: { id: string; name: string; taskId: string | null; projectId: string; count: number }[] =
      await op.query(
        `SELECT id, name, task_id AS "taskId", project_id AS "projectId", (count(*) OVER ())::int AS count FROM instance WHERE ${condition} ORDER BY name, id LIMIT $2`,
        [value, limit, ...more],
      );
    return { count: rows[0]?.count ?? 0, first: rows.map(({ count: _, ...row }) => ({ kind: 'instance', ...row })) };
  }
}

/** Who needs something, as a refusal to delete it tells. */
export interface UsersFound {
  first: (InUseBy & { projectId: string })[];
  count: number;
}
