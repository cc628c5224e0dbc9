import { Client as PgClient } from 'pg';
import { Pool } from 'undici';
import { ControlPlane } from '../harness/control-plane';
import type { Figure, Row } from '../harness/figure';
import type { Lab } from '../harness/lab';
import { inLanes, percentile, timed } from '../harness/statistics';

const instances = 1_000;
const page = 100;
const connections = 16;
const creates = 300;
const hosts = 10;
/** How often each request is made; the first tenth fills caches and is not counted. */
const requests = { read: 6_000, list: 1_500, alone: 1_500 } as const;
/** The measured reads and the reference take turns, so that a busy machine is busy for both. */
const turns = 3;

interface Measured {
  perSecond: number;
  p50: number;
}

/** Instances of a project, with a port each, as creates would leave them. In `error`: nobody watches over those. */
const fill = async (client: PgClient, projectId: string): Promise<string[]> => {
  await client.query(
    `INSERT INTO network (id, project_id, name, subnet, gateway, nat, mtu, next_address) VALUES (gen_random_uuid(), $1, 'read', '10.128.0.0/12', '10.128.0.1', false, 1450, '10.128.0.2')`,
    [projectId],
  );
  await client.query(
    `INSERT INTO instance (id, project_id, name, hostname, description, flavor_id, flavor_name, vcpus, memory_bytes, disk_bytes, image_id, image_name, architecture,
       nics, ssh_keys, user_data, stop_grace_seconds, host_id, vmm, state, power, created_by, created_at)
     SELECT gen_random_uuid(), $1, 'read-' || n, 'read-' || n, '', f.id, 'small', 1, 268435456, 1073741824, f.id, 'linux', 'x86_64',
       '[]', '[]', '', 30, h.id, 'simulated', 'error', 'on', 'bench', now() - n * interval '1 second'
     FROM generate_series(1, $2::int) n, (SELECT gen_random_uuid() AS id) f, (SELECT id FROM host LIMIT 1) h`,
    [projectId, instances],
  );
  await client.query(
    `INSERT INTO port (id, project_id, network_id, instance_id, host_id, hostname, position, mac, address, state)
     SELECT gen_random_uuid(), i.project_id, n.id, i.id, i.host_id, i.hostname, 0,
       ('02' || lpad(to_hex(substr(i.name, 6)::int), 10, '0'))::macaddr, '10.128.0.1'::inet + substr(i.name, 6)::int, 'active'
     FROM instance i JOIN network n ON n.project_id = i.project_id AND n.name = 'read' WHERE i.name LIKE 'read-%'`,
  );
  for (const table of ['instance', 'port', 'network']) await client.query(`VACUUM ANALYZE ${table}`);
  return (await client.query<{ id: string }>(`SELECT id FROM instance WHERE name LIKE 'read-%'`)).rows.map((r) => r.id);
};

/** Answers are read to their end and not parsed: the client shares the machine. */
class Load {
  private readonly pool: Pool;

  constructor(
    url: string,
    private readonly token: string,
    private readonly lanes: number,
  ) {
    this.pool = new Pool(url, { connections: lanes, connect: { rejectUnauthorized: false } });
  }

  async run(count: number, path: (index: number) => string): Promise<Measured> {
    const took: number[] = [];
    const headers = { authorization: `Bearer ${this.token}` };
    const ms = await timed(() =>
      inLanes(count, this.lanes, async (i) => {
        took.push(
          await timed(async () => {
            const { statusCode, body } = await this.pool.request({ method: 'GET', path: path(i), headers });
            await body.dump();
            if (statusCode !== 200) throw new Error(`GET ${path(i)}: ${statusCode}`);
          }),
        );
      }),
    );
    return { perSecond: (count * 1000) / ms, p50: percentile(took, 0.5) };
  }

  close(): Promise<void> {
    return this.pool.close();
  }
}

/** The middle of several turns of both, one after the other. */
const beside = async (
  load: Load,
  count: number,
  path: (index: number) => string,
): Promise<{ ours: Measured; reference: Measured }> => {
  await load.run(count / 10, path);
  const ours: Measured[] = [];
  const reference: Measured[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    ours.push(await load.run(count / turns, path));
    reference.push(await load.run(count / turns, () => '/health'));
  }
  const middle = (of: Measured[]): Measured => ({
    perSecond: percentile(
      of.map((m) => m.perSecond),
      0.5,
    ),
    p50: percentile(
      of.map((m) => m.p50),
      0.5,
    ),
  });
  return { ours: middle(ours), reference: middle(reference) };
};

/** How many requests one management process answers: what users feel when they look at what they have. */
export const requestRate: Figure = {
  name: 'requests',
  limitMinutes: 6,
  async run(lab: Lab) {
    const plane = await ControlPlane.start(lab, 'request_rate', { VC_STACK_MODULES__HOST__CPU_OVERCOMMIT: '64' });
    await plane.furnish();
    await plane.addHosts(hosts);
    const { api } = plane;
    const project = await api.ok('GET', '/projects/default');
    const client = new PgClient({ connectionString: plane.databaseUrl });
    await client.connect();
    lab.defer(() => client.end());
    const ids = await fill(client, project.id);
    const one = (i: number): string => `/api/v1/instances/${ids[i % ids.length] ?? ''}`;
    const list = (): string => `/api/v1/instances?limit=${page}`;
    const rows: Row[] = [];
    // One connection comes last: it is to meet a process that has answered for a while, as one in use has.
    for (const lanes of [connections, 1]) {
      const load = new Load(api.url, api.token, lanes);
      lab.defer(() => load.close());
      const read = await beside(load, lanes === 1 ? requests.alone : requests.read, one);
      const aim =
        lanes === 1
          ? { figure: 'one instance, one connection: p50', of: 'p50' as const, unit: 'ms', aim: 'at most 0.8 ms' }
          : { figure: `one instance, ${lanes} connections`, of: 'perSecond' as const, unit: '/s', aim: '3,000/s' };
      lab.say(`one instance, ${lanes}: ${read.ours.perSecond.toFixed(0)}/s, p50 ${read.ours.p50.toFixed(2)} ms`);
      rows.push({
        figure: aim.figure,
        ours: read.ours[aim.of],
        reference: read.reference[aim.of],
        unit: aim.unit,
        note: `aim: ${aim.aim}; GET /instances/{id} of ${instances}; reference: GET /health of the same process`,
      });
      if (lanes === 1) continue;
      const pages = await beside(load, requests.list, list);
      lab.say(`list of ${page}, ${lanes}: ${pages.ours.perSecond.toFixed(0)}/s, p50 ${pages.ours.p50.toFixed(1)} ms`);
      rows.push({
        figure: `list of ${page} of ${instances}, ${lanes} connections`,
        ours: pages.ours.perSecond,
        reference: pages.reference.perSecond,
        unit: '/s',
        note: `aim: 600/s; GET /instances?limit=${page}; reference: GET /health of the same process`,
      });
    }
    const health = new Load(api.url, api.token, connections);
    lab.defer(() => health.close());
    const accept = async (i: number): Promise<void> =>
      void (await api.ok('POST', '/instances?project=default', {
        name: `accepted-${i}`,
        flavor: 'bench',
        image: 'bench',
        networks: [{ network: 'bench' }],
      }));
    await inLanes(connections, connections, (i) => accept(creates + i));
    const acceptMs = await timed(() => inLanes(creates, connections, accept));
    const reference = await health.run(creates * 10, () => '/health');
    lab.say(`creates accepted: ${((creates * 1000) / acceptMs).toFixed(0)}/s`);
    rows.push({
      figure: `creates accepted, ${connections} connections`,
      ours: (creates * 1000) / acceptMs,
      reference: reference.perSecond,
      unit: '/s',
      note: `aim: 200/s; ${creates} POST /instances while ${hosts} simulated hosts make them; reference: GET /health beside their end`,
    });
    return rows;
  },
};
