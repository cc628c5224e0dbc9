import { randomUUID } from 'node:crypto';
import { Config } from '../../src/core/config/config';
import type { CoreConfig } from '../../src/core/config/core-config';
import { createDataSource } from '../../src/core/db/data-source';
import { Database } from '../../src/core/db/database';
import { loadMigrations, runMigrations } from '../../src/core/db/migrations';
import { PostgresHosts } from '../../src/modules/host/management/hosts/postgres-hosts';
import { HostRepository } from '../../src/modules/host/management/hosts/host.repository';
import type { PlacementRequest } from '../../src/modules/scheduler/contract/scheduler.ports';
import { poolNeed, poolStore } from '../../src/modules/storage/contract/pool-needs';
import { vmmNeeds } from '../../src/modules/compute/management/vmms/vmm-needs';
import { ClaimRepository } from '../../src/modules/scheduler/management/claim.repository';
import { SchedulerPlacement } from '../../src/modules/scheduler/management/scheduler-placement';
import type { Figure, Row } from '../harness/figure';
import type { Lab } from '../harness/lab';
import { BareTransactions } from '../harness/bare-transactions';
import { inLanes, timed } from '../harness/statistics';

const sizes = [
  { hosts: 1_000, placements: 3_000, aim: 500 },
  { hosts: 10_000, placements: 1_500, aim: 100 },
] as const;
const warmUp = 200;
const inFlight = 16;
const pool = 20;
const gib = 2 ** 30;
/** Revisions as an agent tells them: they are part of what is read of each host. */
const revisions = {
  release: '0.0.0',
  verbs: Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`noun.verb-${i}`, 1])),
  sections: {},
};

/** Ready hosts of 64 threads and 512 GiB with some claims on each, as many instances would leave them. */
const fill = async (database: Database, hosts: number): Promise<void> => {
  await database.query(
    `INSERT INTO host (id, name, address, port, state, schedulable, state_reason, architecture, threads, memory_bytes, disk_bytes, parts, stores, revisions)
     SELECT gen_random_uuid(), 'placed' || n, '192.0.2.1', 8444, 'ready', true, '', 'x86_64', 64, $2::bigint, $3::bigint, $4, $5, $6
       FROM generate_series(1, $1::int) n`,
    [
      hosts,
      512 * gib,
      8192 * gib,
      JSON.stringify({
        vmms: [{ kind: 'cloud-hypervisor', usable: true, capabilities: ['uefi', 'serial', 'hotplug'] }],
        pools: [{ name: 'default', totalBytes: 8192 * gib }],
      }),
      JSON.stringify([{ key: 'pools/default', part: 'pools', name: 'default', bytes: 8192 * gib }]),
      JSON.stringify(revisions),
    ],
  );
  await database.query(
    `INSERT INTO host_usage (host_id, vcpus, memory_bytes, disk_bytes, stores, instances)
     SELECT id, c, c * $1::bigint, c * $1::bigint, jsonb_build_object('pools/default', c * $1::bigint), c
       FROM host, LATERAL (SELECT 1 + abs(hashtext(id::text)) % 20 AS c) claims`,
    [gib],
  );
  await database.query('VACUUM ANALYZE host');
  await database.query('VACUUM ANALYZE host_usage');
};

const request = (): PlacementRequest => ({
  instanceId: randomUUID(),
  projectId: randomUUID(),
  vcpus: 1,
  memoryBytes: gib,
  diskBytes: 10 * gib,
  store: poolStore('default'),
  architecture: 'x86_64',
  needs: [...vmmNeeds({ vmm: null, firmware: 'any', machine: {} }), poolNeed('default')],
  verbs: { 'noun.verb-1': 1 },
});

const measure = async (lab: Lab, { hosts, placements, aim }: (typeof sizes)[number]): Promise<Row> => {
  const url = await lab.postgres.database(`placement_${hosts}`);
  const source = createDataSource(url, { pool, migrations: await loadMigrations() });
  await source.initialize();
  const database = new Database(source);
  lab.defer(() => database.close());
  await runMigrations(source);
  await fill(database, hosts);
  const reader = new PostgresHosts(
    new HostRepository(),
    new Config({} as CoreConfig, { host: { cpuOvercommit: 4, memoryReserveBytes: gib } }),
  );
  const placement = new SchedulerPlacement(reader, new ClaimRepository());
  const place = async (): Promise<void> => {
    await database.tx((op) => placement.claim(op, request()));
  };
  await inLanes(warmUp, inFlight, place);
  const processor = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6 + lab.postgres.cpuSeconds;
  };
  const before = processor();
  const ours = (placements * 1000) / (await timed(() => inLanes(placements, inFlight, place)));
  lab.say(
    `${hosts} hosts: ${ours.toFixed(0)}/s, ${(((processor() - before) * 1000) / placements).toFixed(2)} ms of processor time each, PostgreSQL included`,
  );
  const bare = await BareTransactions.open(url, pool);
  lab.defer(() => bare.close());
  const reference = (placements * 1000) / (await timed(() => inLanes(placements, inFlight, () => bare.one())));
  return {
    figure: `placements on ${hosts.toLocaleString('en')} hosts`,
    ours,
    reference,
    unit: '/s',
    note: `aim: at least ${aim}/s; ${placements} claims, each in a transaction of its own, ${inFlight} in flight; reference: bare transactions`,
  };
};

/** The scheduler by itself: from the hosts as the database has them to the claim that has committed. */
export const placementRate: Figure = {
  name: 'placements',
  limitMinutes: 5,
  async run(lab: Lab) {
    const rows: Row[] = [];
    for (const size of sizes) rows.push(await measure(lab, size));
    return rows;
  },
};
