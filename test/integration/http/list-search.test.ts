import type { Op } from '../../../src/core/db/rows/op';
import { computeEntities } from '../../../src/modules/compute/management/compute.entities';
import { InstanceRepository } from '../../../src/modules/compute/management/instances/instance.repository';
import { networkEntities } from '../../../src/modules/network/management/network.entities';
import type { InstancePorts } from '../../../src/modules/network/contract/network.ports';
import { PortRepository } from '../../../src/modules/network/management/ports/port.repository';
import { TaskListRepository } from '../../../src/modules/task/management/task-list.repository';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';

jest.setTimeout(240_000);

const project = '11111111-1111-4111-8111-111111111111';
const other = '22222222-2222-4222-8222-222222222222';
const many = 100_000;

/** 100,000 of each in one project; what is looked for is rare, or not there. */
const fill = async ({ database }: TestDatabase): Promise<void> => {
  await database.query(
    `INSERT INTO instance (id, project_id, name, hostname, description, flavor_id, flavor_name, vcpus, memory_bytes, disk_bytes, image_id, image_name, architecture, nics, ssh_keys, user_data, stop_grace_seconds, state, power, created_by, created_at)
     SELECT overlay(overlay(md5('i' || n) PLACING '4' FROM 13) PLACING '8' FROM 17)::uuid, $1, CASE WHEN n = 500 THEN 'Prod_DB-primary' WHEN n = 501 THEN 'größe' WHEN n > 85000 THEN 'rack-node-' || n || '-5000' ELSE 'node-' || n END, 'h' || n, '', gen_random_uuid(), 'tiny', 1, 1, 1, gen_random_uuid(), 'linux', 'x86_64', '[]', '[]', '', 30, CASE WHEN n % 20000 = 7 THEN 'stopped' ELSE 'running' END, 'on', 'me',
            timestamptz '2026-01-01' + n * interval '1 second' FROM generate_series(1, $2::int) n`,
    [project, many],
  );
  await database.query(`INSERT INTO network (id, project_id, name, mtu) VALUES (md5('net')::uuid, $1, 'wide', 1500)`, [
    project,
  ]);
  await database.query(
    `INSERT INTO port (id, project_id, network_id, instance_id, host_id, hostname, position, mac, address, created_at)
     SELECT md5('p' || n)::uuid, $1, md5('net')::uuid, overlay(overlay(md5('i' || n) PLACING '4' FROM 13) PLACING '8' FROM 17)::uuid, gen_random_uuid(), 'h' || n, 0, (lpad(to_hex(n), 12, '0'))::macaddr, inet '10.0.0.0' + n,
            timestamptz '2026-01-01' + n * interval '1 second' FROM generate_series(1, $2::int) n`,
    [project, many],
  );
  await database.query(
    `INSERT INTO task_archive (id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, cursor, progress, undone, children, children_left, priority, created_by, created_at, started_at, ended_at, steps)
     SELECT md5('t' || n)::uuid, 'instance.create', 1, $1, 'instance', overlay(overlay(md5('i' || n) PLACING '4' FROM 13) PLACING '8' FROM 17)::uuid, CASE WHEN n = 500 THEN 'Prod_DB-primary' ELSE 'node-' || n END, 'succeeded', '{}', 1, 100, true, 0, 0, 1, 'me',
            timestamptz '2026-01-01' + n * interval '1 second', now(), now(), '[]' FROM generate_series(1, $2::int) n`,
    [project, many],
  );
  await database.query('VACUUM ANALYZE instance, port, task_archive');
};

describe('search in lists', () => {
  let db: TestDatabase;
  const ports = new PortRepository();
  const instances = new InstanceRepository({ shownOf: (id) => ports.shownOf(id) } as InstancePorts);
  const tasks = new TaskListRepository();

  beforeAll(async () => {
    db = await startTestDatabase({ entities: [...computeEntities, ...networkEntities] });
    await fill(db);
  });
  afterAll(() => db?.close());

  it('gives each of many who ask at the same time its own, by a few statements', async () => {
    const { op } = db.database;
    const wanted = await op.query<{ id: string; name: string }>('SELECT id, name FROM instance LIMIT 100');
    const absent = '33333333-3333-4333-8333-333333333333';
    const asked = jest.spyOn(op, 'query');
    const shown = await Promise.all([...wanted, { id: absent }, ...wanted].map(({ id }) => instances.shown(op, id)));
    expect(asked.mock.calls.length).toBeLessThan(10);
    asked.mockRestore();
    const names = wanted.map(({ name }) => name);
    expect(shown.map((instance) => instance?.name)).toEqual([...names, undefined, ...names]);
    expect(new Set(shown.map((instance) => instance?.ports?.length))).toEqual(new Set([1, undefined]));
  });

  /** Names that the list has for `q`, and how many rows the database read for them. */
  const found = (
    q: string,
    projects: 'all' | readonly string[] = [project],
    sort: 'name' | '-createdAt' = '-createdAt',
  ): Promise<{ names: string[]; read: number }> =>
    counted(async (op) => {
      const at = /[.:]/.test(q) ? await ports.instancesAt(op, projects, q, 1000) : [];
      return (await instances.list(op, projects, { limit: 50, sort, q }, undefined, at)).rows.map((row) => row.name);
    });
  const counted = (list: (op: Op) => Promise<string[]>): Promise<{ names: string[]; read: number }> =>
    db.database.tx(async (op) => {
      const rowsRead = async (): Promise<number> =>
        (
          await op.query<{ read: number }>(
            `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS read FROM pg_stat_xact_user_tables WHERE relname IN ('instance', 'port', 'task_archive')`,
          )
        )[0]?.read ?? Number.NaN;
      const before = await rowsRead();
      const names = await list(op);
      return { names, read: (await rowsRead()) - before };
    });

  it.each([
    ['part of a name, in any case', 'prod_db', ['Prod_DB-primary']],
    ['the end of a name', 'PRIMARY', ['Prod_DB-primary']],
    ['a number that its name ends with', 'NODE-54321', ['node-54321']],
    ['a number that another name ends with', 'web-54321', []],
    ['a number within, before one that many end with', 'rack-node-90123-5000', ['rack-node-90123-5000']],
    ['a number that many others end with', 'web-5000', []],
    ['letters beyond ASCII', 'GRÖSSE'.replace('SS', 'ß'), ['größe']],
    ['two letters where a word begins', 'pr', ['Prod_DB-primary']],
    ['one letter where a word begins', 'G', ['größe']],
    ['a word after an underscore', 'db', ['Prod_DB-primary']],
    ['a wildcard taken as a letter', 'prod%', []],
    ['what is not there', 'nothing-like-it', []],
    ['an address', '10.0.1.244', ['Prod_DB-primary']],
    ['a MAC address', '00:00:00:00:01:f4', ['Prod_DB-primary']],
  ])('finds by %s', async (_what, q, names) => {
    const answer = await found(q);
    expect(answer.names).toEqual(names);
    expect(answer.read).toBeLessThan(2000);
  });

  it('finds by the beginning of an id', async () => {
    const [row] = await db.database.query<{ id: string }>(`SELECT id FROM instance WHERE name = 'Prod_DB-primary'`);
    const id = row?.id ?? '';
    for (const q of [id, id.slice(0, 13), id.slice(0, 8).toUpperCase()]) {
      const answer = await found(q);
      expect(answer.names).toEqual(['Prod_DB-primary']);
      expect(answer.read).toBeLessThan(2000);
    }
  });

  it('costs no more when nearly everything matches', async () => {
    for (const sort of ['name', '-createdAt'] as const) {
      const answer = await found('node', [project], sort);
      expect(answer.names).toHaveLength(50);
      expect(answer.read).toBeLessThan(2000);
    }
  });

  it.each([
    ['most have', 'running', 50, ['all', [project]]],
    ['few have', 'stopped', 5, ['all', [project], [other, project]]],
    ['none has', 'building', 0, ['all', [project], [other, project]]],
  ] as const)('costs no more when only those are listed whose state %s', async (_what, state, length, viewers) => {
    // So often that the database plans for any state, and not for this one.
    const times = 12;
    for (const sort of ['name', '-createdAt'] as const)
      for (const projects of viewers) {
        const answer = await counted(async (op) => {
          let names: string[] = [];
          for (let i = 0; i < times; i += 1)
            names = (await instances.list(op, projects, { limit: 50, sort, state }, undefined)).rows.map((i) => i.name);
          return names;
        });
        expect(answer.names).toHaveLength(length);
        expect(answer.read).toBeLessThan(times * 2000);
      }
  });

  it('lists several projects in one order, page by page', async () => {
    const of = (sort: 'name' | '-createdAt', cursor?: string) =>
      db.database.tx((op) =>
        instances.list(op, [other, project], { limit: 2, sort, state: 'stopped', cursor }, undefined),
      );
    for (const sort of ['name', '-createdAt'] as const) {
      const names: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await of(sort, cursor);
        names.push(...page.rows.map((i) => i.name));
        cursor = page.next ?? undefined;
      } while (cursor !== undefined);
      const wanted = [7, 20_007, 40_007, 60_007, 80_007].map((n) => `node-${n}`);
      expect(names).toEqual(sort === 'name' ? [...wanted].sort() : wanted.reverse());
    }
  });

  it('finds nothing of other projects', async () => {
    expect((await found('prod_db', [other])).names).toEqual([]);
    expect((await found('10.0.1.244', [other])).names).toEqual([]);
    expect((await found('prod_db', 'all')).names).toEqual(['Prod_DB-primary']);
  });

  it('finds tasks by the name and the id of what they are about, archived ones too', async () => {
    const [row] = await db.database.query<{ id: string; subject_id: string }>(
      `SELECT id, subject_id FROM task_archive WHERE subject_name = 'Prod_DB-primary'`,
    );
    const sought = ['d_db-pri', row?.id ?? '', row?.subject_id.slice(0, 13) ?? ''];
    // So often that the server would have planned it for any value.
    for (const q of Array.from({ length: 8 }, () => sought).flat()) {
      for (const projects of [[project], [project, other], 'all'] as const) {
        const answer = await counted(async (op) =>
          (await tasks.page(op, { projects, limit: 50, q })).map((task) => task.subjectName),
        );
        expect(answer.names).toEqual(['Prod_DB-primary']);
        expect(answer.read).toBeLessThan(2000);
      }
    }
  });
});
