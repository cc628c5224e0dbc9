import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJournal } from '../../src/core/host/journal/journal-lines';
import type { Lane } from './lane';
import type { Scenario, ScenarioSubject as Subject } from '../../src/core/testing/scenario';

/**
 * What there is of a subject in the database and on the host, without ids, names and times: the same for every run that
 * ended the same way.
 */
export type Sight = Record<string, unknown>;

interface HostDocument {
  generation: number;
  networks: { ports: { id: string; instanceId: string }[] }[];
}

const filesIn = (directory: string): string[] => (existsSync(directory) ? readdirSync(directory).sort() : []);

const readJson = (file: string): Record<string, unknown> | null => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  } catch {
    return null;
  }
};

const documentOf = (lane: Lane): HostDocument =>
  (readJson(lane.hostPath('network', 'document.json')) as HostDocument | null) ?? { generation: 0, networks: [] };
const portsOnHost = (lane: Lane): { id: string; instanceId: string }[] =>
  documentOf(lane).networks.flatMap((network) => network.ports);

/** What lies in a folder for good: files of the serial console come and go with what guests say, and an empty folder holds nothing. */
const lastingIn = (directory: string): string[] =>
  filesIn(directory)
    .filter((name) => !name.startsWith('serial') && !name.startsWith('console'))
    .filter(
      (name) =>
        statSync(join(directory, name), { throwIfNoEntry: false })?.isDirectory() !== true ||
        filesIn(join(directory, name)).length > 0,
    );

const instanceOnHost = (lane: Lane, id: string): Sight => {
  const record = readJson(lane.hostPath('instances', id, 'instance.json'));
  const spec = record?.['spec'] as { disks: unknown[]; ports: unknown[] } | undefined;
  return {
    files: lastingIn(lane.hostPath('instances', id)),
    record: record && {
      generation: record['generation'],
      power: record['power'],
      starting: record['starting'],
      // Of a machine before the one that runs: whether there was one is history.
      exit: record['handle'] === null ? record['exit'] : null,
      runs: record['handle'] !== null,
      paused: record['paused'],
      suspended: record['suspended'],
      disks: spec?.disks.length,
      ports: spec?.ports.length,
    },
    vmm: existsSync(lane.hostRunPath('i', id, 'simulated.json')),
    portsInDocument: portsOnHost(lane).filter((port) => port.instanceId === id).length,
  };
};

const instanceSight = async (lane: Lane, id: string): Promise<Sight> => {
  const rows = async (sql: string): Promise<unknown[]> => lane.query(sql, [id]);
  const volumes = await lane.query<{ id: string }>('SELECT id FROM volume WHERE instance_id = $1', [id]);
  return {
    instance: await rows(
      'SELECT state, power, generation, task_id IS NOT NULL AS held, host_id IS NOT NULL AS placed, vmm FROM instance WHERE id = $1',
    ),
    claim: await rows('SELECT vcpus, memory_bytes, disk_bytes, store FROM host_claim WHERE instance_id = $1'),
    ports: await rows('SELECT state, position, message FROM port WHERE instance_id = $1 ORDER BY position'),
    volumes: await rows('SELECT role, state, bytes, pool FROM volume WHERE instance_id = $1 ORDER BY role'),
    disks: await rows(
      `SELECT v.state, a.position, a.mode FROM volume_attachment a JOIN volume v ON v.id = a.volume_id WHERE a.instance_id = $1 ORDER BY a.position`,
    ),
    tombstone: await rows('SELECT pool FROM instance_tombstone WHERE instance_id = $1'),
    live: await rows(
      `SELECT type, state FROM task WHERE subject_id = $1 AND state NOT IN ('succeeded', 'failed', 'cancelled')`,
    ),
    host: {
      ...instanceOnHost(lane, id),
      volumes: volumes.filter((v) => existsSync(lane.hostPath('pools', 'default', `${v.id}.name`))).length,
    },
  };
};

/** What there is of the subject now. */
export const sightOf = async (lane: Lane, { sight }: Scenario, subject: Subject): Promise<Sight> => {
  if (sight) return sight(lane, subject);
  if (!subject.several) return instanceSight(lane, subject.id);
  return Object.fromEntries(
    await Promise.all(subject.several.map(async (id, i) => [String(i + 1), await instanceSight(lane, id)] as const)),
  );
};

/** Row by row and file by file, for what must not change at all. */
export const exactly = async (lane: Lane, taskId: string, scenario: Scenario, subject: Subject): Promise<Sight> => ({
  task: await lane.query('SELECT * FROM task WHERE id = $1', [taskId]),
  steps: await lane.query('SELECT * FROM task_step_history WHERE task_id = $1 ORDER BY seq, phase', [taskId]),
  events: (await lane.query(`SELECT seq FROM outbox WHERE subject->>'id' = $1`, [taskId])).length,
  sight: await sightOf(lane, scenario, subject),
});

/** The host's journal as it lies on the disk: every record that was written, in order. */
const journal = (lane: Lane): { keys: string[]; damaged: number } => {
  const file = lane.hostPath('journal', 'journal.log');
  const { records, damaged } = decodeJournal(existsSync(file) ? readFileSync(file) : Buffer.alloc(0));
  return { keys: records.map((record) => record.key), damaged };
};

/** Keys of the task whose effect was journalled more than once, i.e. that was done twice. */
export const doneTwice = (lane: Lane, taskId: string): string[] => {
  const keys = journal(lane).keys.filter((key) => key.startsWith(`r:${taskId}/`));
  return [...new Set(keys.filter((key, i) => keys.indexOf(key) !== i))];
};

const finals = ['succeeded', 'failed', 'cancelled'];

/**
 * What viewers of the live events were told, judged: a final state is the last word, and what ran by its create is not
 * gone again.
 */
export const takenBack = async (lane: Lane, taskId: string, subject: Subject, type: string): Promise<string[]> => {
  const told = await lane.query<{ state: string }>(
    `SELECT data->>'state' AS state FROM outbox WHERE subject->>'kind' = 'task' AND subject->>'id' = $1 ORDER BY seq`,
    [taskId],
  );
  const states = told.map((row) => row.state);
  const end = states.findIndex((state) => finals.includes(state));
  const faults =
    end >= 0 && end < states.length - 1 ? [`the task's events went on after its end: ${states.join(', ')}`] : [];
  if (end < 0) faults.push(`nobody was told of the task's end: ${states.join(', ')}`);
  if (type !== 'instance.create') return faults;
  const instance = await lane.query<{ type: string; state: string }>(
    `SELECT type, data->>'state' AS state FROM outbox WHERE subject->>'kind' = 'instance' AND subject->>'id' = $1 ORDER BY seq`,
    [subject.id],
  );
  // A host that is silent for long makes it `unknown`: nobody says that it does not run.
  const ran = instance.findIndex((event) => event.state === 'running');
  const after =
    ran < 0
      ? []
      : instance
          .slice(ran)
          .filter(
            (event) => event.type === 'instance.deleted' || (event.state !== 'running' && event.state !== 'unknown'),
          );
  if (after.length > 0) faults.push(`the instance ran and then was ${after.map((event) => event.state).join(', ')}`);
  return faults;
};

/** What should not be there once every subject was removed: on the database and on the host, each in a line. */
export const leftovers = async (lane: Lane): Promise<string[]> => {
  const found: string[] = [];
  const none = async (what: string, sql: string): Promise<void> => {
    for (const row of await lane.query(sql)) found.push(`${what}: ${JSON.stringify(row)}`);
  };
  await none(
    'a live task',
    `SELECT id, type, state, owner, cursor, step FROM task WHERE state NOT IN ('succeeded', 'failed', 'cancelled')`,
  );
  await none(
    'a lock of a task that is over',
    `SELECT l.key, t.id, t.type, t.state FROM task_lock l LEFT JOIN task t ON t.id = l.task_id WHERE t.id IS NULL OR t.state IN ('succeeded', 'failed', 'cancelled')`,
  );
  await none(
    'a worker on a task that is over',
    `SELECT id, type, state FROM task WHERE (owner IS NOT NULL OR wake_at IS NOT NULL) AND state IN ('succeeded', 'failed', 'cancelled')`,
  );
  await none('an instance', 'SELECT id, name, state, state_reason FROM instance');
  await none('a claim', 'SELECT * FROM host_claim');
  await none(
    'a usage sum',
    'SELECT * FROM host_usage WHERE vcpus <> 0 OR memory_bytes <> 0 OR disk_bytes <> 0 OR instances <> 0 OR EXISTS (SELECT FROM jsonb_each_text(stores) WHERE value <> $$0$$)',
  );
  await none('a port', 'SELECT id, instance_id, state FROM port');
  await none('a volume', 'SELECT id, instance_id, state FROM volume');
  await none('an attachment', 'SELECT * FROM volume_attachment');
  await none('a claim of a disk', 'SELECT * FROM disk_claim');
  await none('a tombstone', 'SELECT * FROM instance_tombstone');
  await none('a tombstone of a volume', 'SELECT * FROM volume_tombstone');
  await none('an image', `SELECT id, name, state FROM image WHERE name <> 'base'`);
  await none(
    'a transaction that nobody ends',
    `SELECT pid, state, query FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND now() - state_change > interval '2 s'`,
  );
  const stored = new Set(
    (await lane.query<{ sha256: string }>('SELECT sha256 FROM image WHERE sha256 IS NOT NULL')).map(
      (row) => `${row.sha256}.raw`,
    ),
  );
  const files: [string, string[]][] = [
    ['an image file', filesIn(lane.imagePath()).filter((file) => file.endsWith('.raw') && !stored.has(file))],
    ['an incoming image file', filesIn(lane.imagePath('incoming'))],
    ['an instance on the host', filesIn(lane.hostPath('instances'))],
    ['a run folder on the host', filesIn(lane.hostRunPath('i'))],
    ['a volume on the host', filesIn(lane.hostPath('pools', 'default'))],
  ];
  for (const [what, names] of files) for (const name of names) found.push(`${what}: ${name}`);
  for (const port of portsOnHost(lane)) found.push(`a port in the host's document: ${JSON.stringify(port)}`);
  const { damaged } = journal(lane);
  if (damaged > 0) found.push(`the host's journal: ${damaged} damaged lines`);
  return found;
};

/** For messages: where two sights differ. */
export const difference = (expected: unknown, seen: unknown, path = ''): string[] => {
  if (JSON.stringify(expected) === JSON.stringify(seen)) return [];
  const isTree = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isTree(expected) || !isTree(seen))
    return [`${path}: ${JSON.stringify(seen)} instead of ${JSON.stringify(expected)}`];
  return [...new Set([...Object.keys(expected), ...Object.keys(seen)])].flatMap((key) =>
    difference(expected[key], seen[key], join(path, key)),
  );
};
