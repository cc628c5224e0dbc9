import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Host } from '../../src/modules/host/contract/host.api';
import type { TaskDetail } from '../../src/modules/task/contract/task.api';
import type { BodyOf } from '../../src/rest/rest-call';
import { ApiClient } from '../support/api-client';
import { eventually } from '../support/eventually';
import { startTestDatabase, type TestDatabase } from '../support/postgres';
import { repositoryRoot } from '../support/repository';
import { StackProcess } from '../support/stack-process';
import { DatabaseProxy } from './database-proxy';
import { freePort } from '../support/free-port';

export type CreateInstance = BodyOf<'post', '/instances'>;

export interface SimulatedCloudOptions {
  hosts?: number;
  /** Puts a proxy between management and the database. */
  proxied?: boolean;
  managementEnv?: Record<string, string>;
  computeEnv?: Record<string, string>;
  /** Of single hosts, by their number. */
  hostEnv?: readonly Record<string, string>[];
  /** Keeps connections to the API; off where management is killed and restarted under the test. */
  keepAlive?: boolean;
}

/** Files of instances, volumes and sockets carry their id. */
const namedByAnId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
const settled = ['succeeded', 'failed', 'cancelled', 'stuck'];

/** What is left of instances in the database, by table; the counters of hosts too, which must be the sum of nothing. */
const remains: Record<string, string> = {
  instance: 'SELECT id::text AS what FROM instance',
  claim: 'SELECT instance_id::text AS what FROM host_claim',
  usage:
    'SELECT host_id::text AS what FROM host_usage WHERE vcpus <> 0 OR memory_bytes <> 0 OR disk_bytes <> 0 OR instances <> 0 OR EXISTS (SELECT FROM jsonb_each_text(stores) WHERE value <> $$0$$)',
  volume: 'SELECT id::text AS what FROM volume UNION ALL SELECT volume_id::text FROM volume_attachment',
  'disk claim': 'SELECT volume_id::text AS what FROM disk_claim',
  'volume tombstone': 'SELECT volume_id::text AS what FROM volume_tombstone',
  port: 'SELECT id::text AS what FROM port',
  tombstone: 'SELECT instance_id::text AS what FROM instance_tombstone',
  task: `SELECT id || ' ' || type || ' ' || state AS what FROM task WHERE state NOT IN ('succeeded', 'failed', 'cancelled') OR lock_state IS NOT NULL OR lease_until IS NOT NULL UNION ALL SELECT 'lock ' || key FROM task_lock WHERE NOT EXISTS (SELECT FROM task t WHERE t.id = task_id AND t.ended_at IS NULL)`,
  ticket: 'SELECT subject_id::text AS what FROM channel_ticket',
};

/**
 * One management process and hosts with simulated guests, each a process of its own on loopback: what is killed and
 * frozen here is the control plane.
 */
export class SimulatedCloud {
  private constructor(
    readonly directory: string,
    readonly database: TestDatabase,
    readonly proxy: DatabaseProxy | undefined,
    readonly api: ApiClient,
    readonly management: StackProcess,
  ) {}

  readonly hosts: StackProcess[] = [];
  private clockMs = 0;

  static async start(name: string, options: SimulatedCloudOptions = {}): Promise<SimulatedCloud> {
    const directory = mkdtempSync(`/tmp/vcs-${name}-`);
    const database = await startTestDatabase({ pool: 4 });
    const proxy = options.proxied ? await DatabaseProxy.start(database.url) : undefined;
    const port = await freePort();
    const clockFile = join(directory, 'clock');
    writeFileSync(clockFile, '0');
    const management = new StackProcess({
      role: 'management',
      netns: null,
      directory,
      name: 'management',
      env: {
        ...folders(directory, 'management'),
        NODE_OPTIONS: `--require=${join(repositoryRoot, 'test/model/clock-step.js')}`,
        VC_STACK_TEST_CLOCK_FILE: clockFile,
        VC_STACK_DATABASE__URL: proxy?.url ?? database.url,
        VC_STACK_MANAGEMENT__LISTEN: '127.0.0.1',
        VC_STACK_MANAGEMENT__ADDRESS: '127.0.0.1',
        VC_STACK_MANAGEMENT__PORT: String(port),
        VC_STACK_MANAGEMENT__NODE_PORT: String(await freePort()),
        VC_STACK_M2M__BREAKER_OPEN_MS: '2000',
        VC_STACK_MODULES__HOST__SILENT_AFTER_MS: '4000',
        VC_STACK_MODULES__NETWORK__COOLDOWN_SECONDS: '0',
        ...options.managementEnv,
      },
    });
    const cloud = new SimulatedCloud(
      directory,
      database,
      proxy,
      new ApiClient(`https://127.0.0.1:${port}`, options.keepAlive ?? false),
      management,
    );
    try {
      await management.start();
      await cloud.login();
      for (let i = 0; i < (options.hosts ?? 1); i += 1)
        await cloud.addHost(`sim${i}`, { ...options.computeEnv, ...options.hostEnv?.[i] });
      await cloud.hostsReady();
      await cloud.furnish();
      return cloud;
    } catch (error) {
      // What failed first is what counts.
      await cloud.close().catch(() => undefined);
      throw error;
    }
  }

  login(): Promise<void> {
    return this.api.login(
      'admin',
      readFileSync(join(this.directory, 'management', 'state', 'management', 'admin-password'), 'utf8').trim(),
    );
  }

  hostsReady(): Promise<Host[]> {
    let seen: unknown;
    return eventually(
      'all hosts ready',
      async () => {
        const { items } = await this.api.ok('GET', '/hosts?limit=100');
        seen = items.map(({ name, state, conditions }) => ({
          name,
          state,
          conditions: conditions.filter((c) => c.status !== 'true'),
        }));
        return items.length === this.hosts.length && items.every((host) => host.state === 'ready') && items;
      },
      60_000,
    ).catch((error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(seen)}`);
    });
  }

  /** The body of a create with everything named that it needs. */
  body(name: string, more: Partial<CreateInstance> = {}): CreateInstance {
    return { name, flavor: 'tiny', image: 'blank', networks: [{ network: 'n1' }], ...more };
  }

  /** The task once it has settled, whatever its end. */
  async settled(taskId: string, timeoutMs = 120_000): Promise<TaskDetail> {
    const end = Date.now() + timeoutMs;
    for (;;) {
      const task = await this.api.ok('GET', `/tasks/${taskId}?wait=5s`);
      if (settled.includes(task.state)) return task;
      if (Date.now() > end)
        throw new Error(
          `not within ${timeoutMs / 1000} s: the end of ${task.type} ${taskId}; it is ${task.state} at ${task.step ?? '?'}: ${JSON.stringify(task.steps.filter((s) => s.state !== 'pending').at(-1))}`,
        );
    }
  }

  /** Sets management's wall clock off from everybody else's. Resolves when it goes wrong. */
  async stepClock(offsetMs: number): Promise<void> {
    this.clockMs = offsetMs;
    const file = join(this.directory, 'clock');
    rmSync(`${file}.seen`, { force: true });
    writeFileSync(file, String(offsetMs));
    this.management.signal('SIGUSR2');
    await eventually('the step of the clock', () => {
      try {
        return readFileSync(`${file}.seen`, 'utf8') === String(offsetMs);
      } catch {
        return false;
      }
    });
  }

  get clockOffsetMs(): number {
    return this.clockMs;
  }

  async restartManagement(): Promise<void> {
    await this.management.end('SIGKILL');
    await this.management.start();
  }

  /** Sequence number of the last event about an instance or a task. */
  async lastEvent(): Promise<number> {
    const [row] = await this.database.database.query<{ seq: string | null }>(
      `SELECT max(seq)::text AS seq FROM outbox WHERE type LIKE 'instance.%' OR type LIKE 'task.%'`,
    );
    return Number(row?.seq ?? 0);
  }

  /** Lines that say what is left of instances in the database and in the hosts' folders. */
  async leftovers(): Promise<string[]> {
    const found: string[] = [];
    for (const [what, sql] of Object.entries(remains)) {
      for (const row of await this.database.database.query<{ what: string }>(sql)) found.push(`${what} ${row.what}`);
    }
    for (const [index] of this.hosts.entries()) {
      const base = join(this.directory, `sim${index}`);
      for (const path of readdirSync(base, { recursive: true, encoding: 'utf8' })) {
        if (namedByAnId.test(basename(path)) && !path.includes('/images/')) found.push(`sim${index}: ${path}`);
      }
      for (const port of servedPorts(join(base, 'state', 'compute', 'network', 'document.json')))
        found.push(`sim${index}: port ${port}`);
    }
    return found;
  }

  /** Resolves when nothing is left, or with what still is after the time. */
  async nothingLeft(timeoutMs = 30_000): Promise<string[]> {
    const end = Date.now() + timeoutMs;
    for (;;) {
      const left = await this.leftovers();
      if (left.length === 0 || Date.now() > end) return left;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  async close(): Promise<void> {
    await this.api.close().catch(() => undefined);
    for (const host of this.hosts) {
      host.signal('SIGCONT');
      await host.end('SIGKILL');
    }
    await this.management.end();
    await this.proxy?.close();
    await this.database.close();
    if (process.env['VC_STACK_TEST_KEEP'] === undefined) rmSync(this.directory, { recursive: true, force: true });
  }

  private async addHost(name: string, env: Record<string, string>): Promise<void> {
    const { token } = await this.api.ok('POST', '/host-tokens', {});
    const host = new StackProcess({
      role: 'compute',
      netns: null,
      directory: this.directory,
      name,
      env: {
        ...folders(this.directory, name),
        VC_STACK_COMPUTE__NAME: name,
        VC_STACK_COMPUTE__LISTEN: '127.0.0.1',
        VC_STACK_COMPUTE__ADDRESS: '127.0.0.1',
        VC_STACK_COMPUTE__PORT: String(await freePort()),
        VC_STACK_COMPUTE__TOKEN: token,
        VC_STACK_M2M__HEARTBEAT_MS: '1000',
        VC_STACK_MODULES__COMPUTE__DRIVERS: '[simulated]',
        VC_STACK_MODULES__IMAGE__NODE_DRIVER: 'simulated',
        VC_STACK_MODULES__STORAGE__DRIVER: 'simulated',
        VC_STACK_MODULES__NETWORK__DRIVER: 'simulated',
        ...env,
      },
    });
    this.hosts.push(host);
    await host.start();
  }

  private async furnish(): Promise<void> {
    const image = await this.api.ok('POST', '/images?project=default', {
      name: 'blank',
      format: 'raw',
    });
    const bytes = Buffer.alloc(1024 * 1024);
    bytes.writeUInt16LE(0xaa55, 510);
    await this.api.ok('PUT', `/images/${image.id}/content`, bytes);
    await this.api.ok('POST', '/flavors', { name: 'tiny', vcpus: 1, memoryBytes: 64 * 2 ** 20 });
    await this.api.ok('POST', '/networks?project=default', { name: 'n1', subnet: '10.64.0.0/16' });
  }
}

const folders = (directory: string, name: string): Record<string, string> => {
  const base = join(directory, name);
  mkdirSync(base, { recursive: true, mode: 0o755 });
  return { VC_STACK_STATE_DIR: join(base, 'state'), VC_STACK_RUN_DIR: join(base, 'run') };
};

/** Ports in the document that a host holds. */
const servedPorts = (file: string): string[] => {
  if (!existsSync(file)) return [];
  const { networks } = JSON.parse(readFileSync(file, 'utf8')) as { networks: { ports: { id: string }[] }[] };
  return networks.flatMap((network) => network.ports.map((port) => port.id));
};
