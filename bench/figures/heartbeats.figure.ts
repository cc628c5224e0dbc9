import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { repositoryRoot } from '../../test/support/repository';
import { Child } from '../harness/child';
import { ControlPlane } from '../harness/control-plane';
import type { Figure } from '../harness/figure';
import type { Lab } from '../harness/lab';
import { inLanes } from '../harness/statistics';

const hosts = 1_000;
const perHost = 20;
const joinSeconds = 180;
/** Until first reports are taken and what they wrote is vacuumed. */
const settleSeconds = 20;
/** Several heartbeats of each host, and half of the inventories that come once a minute. */
const windowSeconds = 30;

/** Running instances on every host. */
const fill = async (client: Client): Promise<Record<string, string[]>> => {
  await client.query(
    `INSERT INTO instance (id, project_id, name, hostname, description, flavor_id, flavor_name, vcpus, memory_bytes, disk_bytes, image_id, image_name, architecture,
       nics, ssh_keys, user_data, stop_grace_seconds, host_id, vmm, state, power, created_by, created_at)
     SELECT gen_random_uuid(), p.id, h.name || '-' || n, h.name || '-' || n, '', f.id, 'small', 1, 268435456, 1073741824, f.id, 'linux', 'x86_64',
       '[]', '[]', '', 30, h.id, 'qemu', 'running', 'on', 'bench', now()
     FROM host h, generate_series(1, $1::int) n, (SELECT gen_random_uuid() AS id) f, (SELECT id FROM project LIMIT 1) p`,
    [perHost],
  );
  await client.query('VACUUM ANALYZE instance');
  const { rows } = await client.query<{ host: string; ids: string[] }>(
    'SELECT host_id AS host, array_agg(id::text) AS ids FROM instance GROUP BY host_id',
  );
  return Object.fromEntries(rows.map(({ host, ids }) => [host, ids]));
};

const joined = async (client: Client): Promise<void> => {
  const end = Date.now() + joinSeconds * 1000;
  for (;;) {
    const { rows } = await client.query<{ state: string; count: number }>(
      'SELECT state, count(*)::int AS count FROM host GROUP BY state',
    );
    if (rows.every(({ state }) => state === 'ready') && rows[0]?.count === hosts) return;
    if (Date.now() > end) throw new Error(`hosts did not become ready: ${JSON.stringify(rows)}`);
    await delay(500);
  }
};

/** What many quiet hosts cost: heartbeats of hosts and instances on which nothing changes. */
export const heartbeats: Figure = {
  name: 'heartbeats',
  limitMinutes: 8,
  async run(lab: Lab) {
    const plane = await ControlPlane.start(lab, 'heartbeats', { VC_STACK_LIMITS__CONNECTIONS_PER_ADDRESS: '0' });
    const tokens: string[] = [];
    lab.say(`${hosts} hosts join`);
    await inLanes(hosts, 4, async () => {
      tokens.push((await plane.api.ok('POST', '/host-tokens', {})).token);
    });
    const agents = await Child.start(join(repositoryRoot, 'dist/bench/reporting-hosts.js'), [], {
      log: join(lab.directory, 'hosts.log'),
      message: { directory: join(lab.directory, 'h'), tokens },
      startTimeoutMs: joinSeconds * 1000,
    });
    lab.defer(() => agents.end());
    const client = new Client({ connectionString: plane.databaseUrl });
    await client.connect();
    lab.defer(() => client.end());
    await joined(client);
    agents.send(await fill(client));
    await delay(settleSeconds * 1000);
    const used = (): number => plane.management.cpuSeconds + lab.postgres.cpuSeconds;
    const from = { management: plane.management.cpuSeconds, used: used(), at: performance.now() };
    await delay(windowSeconds * 1000);
    const share = (seconds: number): number => (100_000 * seconds) / (performance.now() - from.at);
    const all = share(used() - from.used);
    const management = share(plane.management.cpuSeconds - from.management);
    lab.say(`${management.toFixed(1)} % management, ${(all - management).toFixed(1)} % PostgreSQL`);
    const { rows } = await client.query<{ silent: number }>(
      `SELECT count(*)::int AS silent FROM host WHERE state <> 'ready' OR last_seen_at < now() - interval '10 seconds'`,
    );
    if (rows[0]?.silent !== 0) throw new Error(`${rows[0]?.silent} hosts were not heard`);
    return [
      {
        figure: `heartbeats of ${hosts.toLocaleString('en')} hosts with ${perHost} instances each`,
        ours: all,
        reference: management,
        unit: '% of a core',
        note: 'aim: at most 15 % with PostgreSQL; reference: of it the management process',
      },
    ];
  },
};
