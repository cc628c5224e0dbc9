import { Client } from 'pg';
import { encodeCursor } from '../../src/core/db/rows/cursor';
import { ApiClient } from '../../test/support/api-client';
import type { Figure, Row } from '../harness/figure';
import { ControlPlane } from '../harness/control-plane';
import type { Lab } from '../harness/lab';
import { percentile, timed } from '../harness/statistics';

const instances = 100_000;
const projects = 4;
const hosts = 50;
const limit = 50;
const requests = 200;
const sort = '-createdAt';
const memberPassword = 'a password of the bench';

/**
 * Instances as creates would leave them, spread over projects and hosts, one port each. They are in `error`: nobody
 * watches over those.
 */
const fill = async (client: Client, projectIds: readonly string[]): Promise<void> => {
  await client.query(
    `INSERT INTO host (id, name, address, port, state, schedulable, state_reason)
     SELECT gen_random_uuid(), 'bench' || n, '192.0.2.1', 8444, 'enrolling', false, '' FROM generate_series(1, $1::int) n`,
    [hosts],
  );
  await client.query(
    `INSERT INTO instance (id, project_id, name, hostname, description, flavor_id, flavor_name, vcpus, memory_bytes, disk_bytes, image_id, image_name, architecture,
       nics, ssh_keys, user_data, stop_grace_seconds, host_id, vmm, state, power, created_by, created_at)
     SELECT gen_random_uuid(), ($1::uuid[])[1 + n % $2], 'list-' || n, 'list-' || n, '', f.id, 'small', 1, 268435456, 1073741824, f.id, 'linux', 'x86_64',
       '[]', '[]', '', 30, (h.ids)[1 + n % $3], 'simulated', 'error', 'on', 'bench', now() - n * interval '1 second'
     FROM generate_series(1, $4::int) n, (SELECT gen_random_uuid() AS id) f, (SELECT array_agg(id) AS ids FROM host) h`,
    [projectIds, projects, hosts, instances],
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
  for (const table of ['instance', 'port', 'network', 'host']) await client.query(`VACUUM ANALYZE ${table}`);
};

const positionAt = async (
  client: Client,
  projectId: string | null,
  offset: number,
): Promise<{ value: string; id: string } | null> => {
  if (offset === 0) return null;
  const { rows } = await client.query<{ value: string; id: string }>(
    `SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS value, id FROM instance
     WHERE $1::uuid IS NULL OR project_id = $1 ORDER BY created_at DESC, id DESC OFFSET $2 LIMIT 1`,
    [projectId, offset - 1],
  );
  return rows[0] ?? null;
};

/** The page's rows by the same key, and nothing else. */
const barePage = async (
  client: Client,
  projectId: string | null,
  position: { value: string; id: string } | null,
): Promise<void> => {
  const conditions: string[] = [];
  const values: unknown[] = [];
  if (projectId !== null) conditions.push(`project_id = $${values.push(projectId)}`);
  if (position)
    conditions.push(
      `(created_at, id) < ($${values.push(position.value)}::timestamptz, $${values.push(position.id)}::uuid)`,
    );
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  await client.query({
    name: `page_${conditions.length}_${projectId === null}`,
    text: `SELECT * FROM instance ${where} ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}`,
    values,
  });
};

const sample = async (work: () => Promise<unknown>): Promise<number[]> => {
  for (let i = 0; i < 20; i += 1) await work();
  const samples: number[] = [];
  for (let i = 0; i < requests; i += 1) samples.push(await timed(work));
  return samples;
};

export const listPages: Figure = {
  name: 'list of 100,000 instances',
  limitMinutes: 6,
  async run(lab: Lab) {
    const plane = await ControlPlane.start(lab, 'list_pages');
    const { api } = plane;
    const projectIds: string[] = [];
    for (let i = 0; i < projects; i += 1)
      projectIds.push((await api.ok('POST', '/projects', { name: `list-${i}` })).id);
    await api.ok('POST', '/users', { name: 'lister', password: memberPassword });
    await api.ok('PUT', `/projects/${projectIds[0]}/members/lister`, { role: 'member' });
    const member = new ApiClient(api.url, true);
    lab.defer(() => member.close());
    await member.login('lister', memberPassword);

    lab.say(`inserting ${instances} instances`);
    const client = new Client({ connectionString: plane.databaseUrl });
    await client.connect();
    lab.defer(() => client.end());
    await fill(client, projectIds);

    const rows: Row[] = [];
    for (const [who, as, projectId, total] of [
      ['admin', api, null, instances],
      ['member', member, projectIds[0] ?? null, instances / projects],
    ] as const) {
      for (const [depth, offset] of [
        ['first', 0],
        ['middle', total / 2],
        ['last', total - limit],
      ] as const) {
        const position = await positionAt(client, projectId, offset);
        const query = `limit=${limit}${position ? `&cursor=${encodeURIComponent(encodeCursor([sort, position.value, position.id]))}` : ''}`;
        const page = await as.ok('GET', `/instances?${query}`);
        if (page.items.length !== limit) throw new Error(`the ${depth} page has ${page.items.length} instances`);
        const ours = await sample(() => as.ok('GET', `/instances?${query}`));
        const reference = await sample(() => barePage(client, projectId, position));
        lab.say(
          `${who}, ${depth}: p50 ${percentile(ours, 0.5).toFixed(1)} ms, p99 ${percentile(ours, 0.99).toFixed(1)} ms`,
        );
        rows.push({
          figure: `list of 100,000, ${depth} page, as ${who}: p99`,
          ours: percentile(ours, 0.99),
          reference: percentile(reference, 0.99),
          unit: 'ms',
          note: `aim: at most 50 ms at any depth; GET /instances?limit=${limit}, ${requests} times; reference: the page's rows by bare SQL`,
        });
      }
    }
    return rows;
  },
};
