import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { MasterKey } from '../../src/core/crypto/master-key';
import { encodeCursor } from '../../src/core/db/rows/cursor';
import { CursorSeal } from '../../src/core/http/routes/cursor-seal';
import { instanceListQuery } from '../../src/modules/compute/contract/compute.api';
import { ApiClient } from '../../test/support/api-client';
import type { Figure, Row } from '../harness/figure';
import { ControlPlane } from '../harness/control-plane';
import type { Lab } from '../harness/lab';
import { percentile, timed } from '../harness/statistics';

const instances = 1_000_000;
const projects = 4;
const hosts = 50;
const limit = 50;
/** Of so many the 99th percentile is the fourth from the worst: of a hundred it was a single pause of the machine. */
const requests = 400;
/** One instance in so many is `stopped`. */
const fewStopped = 10_000;
const memberPassword = 'a password of the bench';

/** Runs `work` without the tables' indexes, which are made afterwards: that takes a fraction of the time. */
const withoutIndexes = async (client: Client, tables: readonly string[], work: () => Promise<void>): Promise<void> => {
  const { rows } = await client.query<{ name: string; made: string }>(
    `SELECT indexname AS name, indexdef AS made FROM pg_indexes
     WHERE tablename = ANY($1) AND indexname NOT IN (SELECT conname FROM pg_constraint)`,
    [tables],
  );
  for (const { name } of rows) await client.query(`DROP INDEX "${name}"`);
  await work();
  for (const { made } of rows) await client.query(made);
};

/**
 * Instances as creates would leave them, spread over projects and hosts, one port each. Most are in `error`: nobody
 * watches over those.
 */
const fill = async (client: Client, projectIds: readonly string[]): Promise<void> => {
  await client.query(
    `INSERT INTO host (id, name, address, port, state, schedulable, state_reason)
     SELECT gen_random_uuid(), 'bench' || n, '192.0.2.1', 8444, 'enrolling', false, '' FROM generate_series(1, $1::int) n`,
    [hosts],
  );
  await withoutIndexes(client, ['instance', 'port'], async () => {
    await client.query(
      `INSERT INTO instance (id, project_id, name, hostname, description, flavor_id, flavor_name, vcpus, memory_bytes, disk_bytes, image_id, image_name, architecture,
       nics, ssh_keys, user_data, stop_grace_seconds, host_id, vmm, state, power, created_by, created_at)
     SELECT gen_random_uuid(), ($1::uuid[])[1 + n % $2], 'list-' || n, 'list-' || n, '', f.id, 'small', 1, 268435456, 1073741824, f.id, 'linux', 'x86_64',
       '[]', '[]', '', 30, (h.ids)[1 + n % $3], 'simulated', CASE WHEN n % $5 = 0 THEN 'stopped' ELSE 'error' END, 'on', 'bench', now() - n * interval '1 second'
     FROM generate_series(1, $4::int) n, (SELECT gen_random_uuid() AS id) f, (SELECT array_agg(id) AS ids FROM host) h`,
      [projectIds, projects, hosts, instances, fewStopped],
    );
    await client.query(
      `INSERT INTO network (id, project_id, name, subnet, gateway, nat, mtu, next_address)
     SELECT gen_random_uuid(), id, 'list', '10.0.0.0/8', '10.0.0.1', false, 1450, '10.0.0.2' FROM unnest($1::uuid[]) id`,
      [projectIds],
    );
    await client.query(
      `INSERT INTO port (id, project_id, network_id, instance_id, host_id, hostname, position, mac, address, state)
     SELECT gen_random_uuid(), i.project_id, n.id, i.id, i.host_id, i.hostname, 0,
       ('02' || lpad(to_hex(substr(i.name, 6)::int), 10, '0'))::macaddr, '10.0.0.1'::inet + substr(i.name, 6)::int, 'active'
     FROM instance i JOIN network n ON n.project_id = i.project_id`,
    );
  });
  for (const table of ['instance', 'port', 'network', 'host']) await client.query(`VACUUM ANALYZE ${table}`);
};

type Sort = '-createdAt' | 'createdAt' | '-name' | 'name';

/** What is asked for, and the rows that it means, in SQL. */
interface List {
  title: string;
  /** Of the query, beside sort and limit. */
  filter: string;
  where: string;
  sort: Sort;
}

/** Lists of whoever sees `where`: every sort order, and the filters with it. */
const listsOf = (who: string, where: string): List[] => {
  const named = (title: string, filter: string, more: string, sort: Sort): List => ({
    title: `${title}, as ${who}`,
    filter,
    where: `${where} AND ${more}`,
    sort,
  });
  return [
    ...(['-createdAt', 'createdAt', 'name', '-name'] as const).map((sort) => named(`all by ${sort}`, '', 'true', sort)),
    named('those of a state that most have', '&state=error', `state = 'error'`, '-createdAt'),
    named('those of a state that few have', '&state=stopped', `state = 'stopped'`, '-createdAt'),
    named('those of a state that few have, by name', '&state=stopped', `state = 'stopped'`, 'name'),
    named('those of a state that none has', '&state=building', 'false', '-createdAt'),
    named('part of a name that few have', '&q=list-12345', `name LIKE 'list-12345%'`, '-createdAt'),
    named('part of a name that all have', '&q=list', 'true', '-createdAt'),
  ];
};

const orderOf = (sort: Sort): { key: string; text: string; direction: 'ASC' | 'DESC' } => ({
  direction: sort.startsWith('-') ? 'DESC' : 'ASC',
  ...(sort.endsWith('name')
    ? { key: 'name', text: 'name' }
    : { key: 'created_at', text: `to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')` }),
});

/** How many rows the list has, and where its pages begin: the first, one in the middle and the last. */
const pagesOf = async (client: Client, { where, sort }: List): Promise<{ depth: string; after: string | null }[]> => {
  const { key, text, direction } = orderOf(sort);
  const { rows } = await client.query<{ count: number }>(`SELECT count(*)::int AS count FROM instance WHERE ${where}`);
  const count = rows[0]?.count ?? 0;
  const at = async (depth: string, offset: number): Promise<{ depth: string; after: string | null }> => {
    const found = await client.query<{ value: string; id: string }>(
      `SELECT ${text} AS value, id FROM instance WHERE ${where} ORDER BY ${key} ${direction}, id ${direction} OFFSET $1 LIMIT 1`,
      [offset - 1],
    );
    const last = found.rows[0];
    return { depth, after: last ? encodeCursor([sort, last.value, last.id]) : null };
  };
  const pages = [{ depth: 'first', after: null }];
  if (count <= 2 * limit) return pages;
  return [...pages, await at('middle', Math.floor(count / 2)), await at('last', count - limit)];
};

/** The path of a page, with the cursor as the page before it would have given it. */
const pathOf = (key: MasterKey, { filter, sort }: List, after: string | null): string => {
  const asked = `limit=${limit}&sort=${sort}${filter}`;
  if (after === null) return `/instances?${asked}`;
  const query = instanceListQuery.parse(Object.fromEntries(new URLSearchParams(asked)));
  const seal = new CursorSeal(key, { path: '/instances', params: {}, query, project: undefined });
  return `/instances?${asked}&cursor=${encodeURIComponent(seal.seal(after))}`;
};

/** Rows of the first page by the order's key, and nothing else. */
const barePage = async (client: Client): Promise<void> =>
  void (await client.query({
    name: 'bare_page',
    text: `SELECT * FROM instance ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}`,
    values: [],
  }));

const sample = async (work: () => Promise<unknown>): Promise<number[]> => {
  for (let i = 0; i < 20; i += 1) await work();
  const samples: number[] = [];
  for (let i = 0; i < requests; i += 1) samples.push(await timed(work));
  return samples;
};

export const listPages: Figure = {
  name: 'list of 1,000,000 instances',
  limitMinutes: 20,
  async run(lab: Lab) {
    const plane = await ControlPlane.start(lab, 'list_pages');
    const { api } = plane;
    const projectIds: string[] = [];
    for (let i = 0; i < projects; i += 1)
      projectIds.push((await api.ok('POST', '/projects', { name: `list-${i}` })).id);
    await api.ok('POST', '/users', { name: 'lister', password: memberPassword });
    for (const id of projectIds.slice(0, 2)) await api.ok('PUT', `/projects/${id}/members/lister`, { role: 'member' });
    const member = new ApiClient(api.url, true);
    lab.defer(() => member.close());
    await member.login('lister', memberPassword);

    lab.say(`inserting ${instances} instances`);
    const client = new Client({ connectionString: plane.databaseUrl });
    await client.connect();
    lab.defer(() => client.end());
    await fill(client, projectIds);

    const key = new MasterKey(readFileSync(join(lab.directory, 'm', 'management', 'master.key')));
    const own = `project_id = ANY('{${[projectIds[0], projectIds[1]].join(',')}}')`;
    const rows: Row[] = [];
    // A server that has just begun compiles its code yet: what is measured is one that serves.
    await sample(() => api.unchecked('GET', `/instances?limit=${limit}`));
    for (const [who, as, where] of [
      ['admin', api, 'true'],
      ['member of two projects', member, own],
    ] as const)
      for (const list of listsOf(who, where))
        for (const { depth, after } of await pagesOf(client, list)) {
          const path = pathOf(key, list, after);
          const page = async (): Promise<void> => {
            const { status } = await as.unchecked('GET', path);
            if (status !== 200) throw new Error(`GET ${path}: ${status}`);
          };
          const ours = await sample(page);
          const reference = await sample(() => barePage(client));
          lab.say(
            `${list.title}, ${depth}: p50 ${percentile(ours, 0.5).toFixed(1)} ms, p99 ${percentile(ours, 0.99).toFixed(1)} ms`,
          );
          rows.push({
            figure: `1,000,000 instances, ${list.title}, ${depth} page: p99`,
            ours: percentile(ours, 0.99),
            reference: percentile(reference, 0.99),
            unit: 'ms',
            note: `aim: at most 15 ms; GET /instances?limit=${limit}, ${requests} times; reference: the newest rows by bare SQL`,
          });
        }
    return rows;
  },
};
