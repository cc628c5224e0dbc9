import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Pool, type QueryResultRow } from 'pg';
import pino from 'pino';
import { EmbeddedPostgres } from '../../src/core/db/embedded/embedded-postgres';
import { ApiClient } from '../support/api-client';
import { beaconTable } from '../fixtures/beacon/management/beacon.repository';
import { freePort } from '../support/free-port';
import { StackProcess } from '../support/stack-process';
import { WorkerProcess } from './worker-process';

/** How long a task belongs to a worker that has died, in milliseconds. */
export const leaseMs = 2_000;
const imageBytes = 1024 * 1024;

/**
 * A whole cloud of its own: PostgreSQL, two management processes (one to be hurt, one to survive), and one host with
 * simulated drivers.
 */
export class Lane {
  api!: ApiClient;
  survivor!: WorkerProcess;
  hostId = '';
  private victimReady: Promise<WorkerProcess> | undefined;
  private readonly postgres: EmbeddedPostgres;
  private databaseUrl = '';
  private pool: Pool | undefined;
  private readonly agent: StackProcess;
  private readonly agentEnv: Record<string, string> = {};
  private readonly stateDir: string;
  private readonly ports = { rest: [0, 0], node: [0, 0] };
  private started = 0;
  private serial = 0;

  constructor(
    readonly directory: string,
    private readonly imageUrl: string,
  ) {
    this.stateDir = join(directory, 'm');
    this.postgres = new EmbeddedPostgres(
      { directory: join(directory, 'pg'), runDirectory: join(directory, 'pr'), user: 'vc-stack-pg' },
      pino({ level: 'silent' }),
    );
    const program = join(__dirname, 'agent.js');
    this.agent = new StackProcess({
      program,
      role: 'compute',
      netns: null,
      directory,
      name: 'agent',
      env: this.agentEnv,
    });
  }

  async start(): Promise<void> {
    mkdirSync(this.stateDir, { recursive: true });
    this.databaseUrl = await this.postgres.start();
    // The machine does not fail here, only the server's processes do.
    const superuser = new Client({
      user: 'vcstack',
      password: readFileSync(join(this.directory, 'pg', 'password'), 'utf8').trim(),
      host: join(this.directory, 'pr'),
      database: 'postgres',
    });
    await superuser.connect();
    for (const setting of ['fsync', 'full_page_writes']) await superuser.query(`ALTER SYSTEM SET ${setting} = off`);
    await superuser.query('SELECT pg_reload_conf()');
    await superuser.end();
    for (const list of [this.ports.rest, this.ports.node]) for (const i of [0, 1]) list[i] = await freePort();
    this.survivor = await this.startWorker('survivor', 0);
    this.api = new ApiClient(`https://127.0.0.1:${this.ports.rest[0] ?? 0}`);
    await this.api.login('admin', readFileSync(join(this.stateDir, 'management', 'admin-password'), 'utf8').trim());
    // Access tokens end after a quarter of an hour; this one does not.
    this.api.token = (await this.api.ok('POST', '/api-tokens', { name: 'chaos' })).token;
    await this.join();
    await this.furnish();
    this.prepareVictim();
  }

  async stop(): Promise<void> {
    await this.survivor?.kill();
    await (await this.victimReady?.catch(() => undefined))?.kill();
    await this.agent.end('SIGKILL');
    await this.pool?.end().catch(() => undefined);
    await this.postgres.stop().catch(() => undefined);
  }

  /** A name that no other thing has. */
  name(kind: string): string {
    this.serial += 1;
    return `${kind}-${this.serial}`;
  }

  get url(): string {
    return this.imageUrl;
  }

  /** The worker that is to be hurt; booted ahead. */
  async victim(): Promise<WorkerProcess> {
    for (let attempt = 1; ; attempt += 1) {
      const worker = await this.victimReady?.catch((error: unknown) => {
        if (attempt >= 3) throw error;
      });
      if (worker?.alive) return worker;
      this.prepareVictim();
    }
  }

  /** It takes no more tasks, if it is there. */
  idleVictim(): void {
    this.victimReady?.then(
      (worker) => worker.send({ claim: false }),
      () => undefined,
    );
  }

  /** Boots the next one while others go on. */
  prepareVictim(): void {
    this.victimReady = this.startWorker('victim', 1);
    this.victimReady.catch(() => undefined);
  }

  /** One statement of the test itself; over another connection when one was lost. */
  async query<R extends QueryResultRow>(sql: string, params: unknown[] = []): Promise<R[]> {
    if (!this.pool) {
      this.pool = new Pool({
        connectionString: this.databaseUrl,
        application_name: 'chaos-test',
        connectionTimeoutMillis: 5_000,
        max: 4,
      });
      this.pool.on('error', () => undefined);
    }
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (await this.pool.query<R>(sql, params)).rows;
      } catch (error) {
        const state = (error as { code?: string }).code;
        if (attempt >= 100 || (state !== undefined && /^(22|23|42)/.test(state))) throw error;
        await delay(100);
      }
    }
  }

  /** Tells management processes to look for due tasks now. */
  async kick(): Promise<void> {
    await this.query(`SELECT pg_notify('task_wake', '')`);
  }

  async cutConnections(): Promise<void> {
    await this.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name <> 'chaos-test'`,
    );
  }

  /** As by a crash of its main process: no shutdown checkpoint, recovery at the start. */
  async restartDatabase(): Promise<void> {
    const pid = Number(readFileSync(join(this.directory, 'pg', 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
    process.kill(pid, 'SIGQUIT');
    while (existsSync(`/proc/${pid}`)) await delay(20);
    await this.postgres.start();
    await this.query('SELECT 1');
  }

  killAgent(): Promise<void> {
    return this.agent.end('SIGKILL');
  }

  startAgent(): Promise<void> {
    return this.agent.start();
  }

  /** Resolves when REST answers and the host takes instances. */
  async ready(): Promise<void> {
    const end = Date.now() + 30_000;
    for (;;) {
      const seen = await this.api.call('GET', '/hosts').catch(() => undefined);
      const host = seen?.body?.items?.[0];
      if (host?.state === 'ready') {
        this.hostId = host.id;
        return;
      }
      if (!this.survivor.alive) throw new Error(`the surviving management process has ended:\n${this.survivor.tail()}`);
      if (Date.now() > end)
        throw new Error(
          `the cloud did not come back: ${JSON.stringify(seen?.body ?? null)}\n${this.survivor.tail(4)}\n${this.agent.tail(4)}`,
        );
      await delay(50);
    }
  }

  /** Polls a task of the API until it is over. */
  async settled(taskId: string): Promise<string> {
    const end = Date.now() + 30_000;
    for (;;) {
      const [row] = await this.query<{ state: string; error: unknown }>('SELECT state, error FROM task WHERE id = $1', [
        taskId,
      ]);
      if (!row) throw new Error(`task ${taskId} is gone`);
      if (['succeeded', 'failed', 'cancelled', 'stuck'].includes(row.state)) return row.state;
      if (Date.now() > end) throw new Error(`task ${taskId} is still ${row.state}: ${JSON.stringify(row.error)}`);
      await delay(20);
    }
  }

  /** Where the host keeps its files. */
  hostPath(...parts: string[]): string {
    return join(this.directory, 'h', 'compute', ...parts);
  }

  hostRunPath(...parts: string[]): string {
    return join(this.directory, 'hr', 'c', ...parts);
  }

  statePath(...parts: string[]): string {
    return join(this.stateDir, 'management', ...parts);
  }

  imagePath(...parts: string[]): string {
    return this.statePath('images', ...parts);
  }

  private startWorker(role: string, slot: 0 | 1): Promise<WorkerProcess> {
    this.started += 1;
    return WorkerProcess.start(join(this.directory, `${role}.log`), {
      CHAOS_LEASE_MS: String(leaseMs),
      VC_STACK_STATE_DIR: this.stateDir,
      VC_STACK_RUN_DIR: join(this.directory, `r${this.started}`),
      VC_STACK_LOG__LEVEL: process.env['CHAOS_LOG'] ?? 'warn',
      VC_STACK_DATABASE__URL: this.databaseUrl,
      VC_STACK_MANAGEMENT__LISTEN: '127.0.0.1',
      VC_STACK_MANAGEMENT__ADDRESS: '127.0.0.1',
      VC_STACK_MANAGEMENT__PORT: String(this.ports.rest[slot] ?? 0),
      VC_STACK_MANAGEMENT__NODE_PORT: String(this.ports.node[slot] ?? 0),
      VC_STACK_M2M__BREAKER_OPEN_MS: '500',
      VC_STACK_M2M__HEARTBEAT_MS: '1000',
      VC_STACK_MODULES__IMAGE__ALLOW_PRIVATE_URLS: 'true',
      // As many as stand at their boundaries at once.
      VC_STACK_MODULES__IMAGE__IMPORTS: '64',
      VC_STACK_MODULES__IMAGE__IMPORTS_PER_PROJECT: '64',
      VC_STACK_MODULES__HOST__CPU_OVERCOMMIT: '64',
    });
  }

  private async join(): Promise<void> {
    const { token } = await this.api.ok('POST', '/host-tokens', {});
    Object.assign(this.agentEnv, {
      VC_STACK_STATE_DIR: join(this.directory, 'h'),
      VC_STACK_RUN_DIR: join(this.directory, 'hr'),
      VC_STACK_LOG__LEVEL: 'warn',
      VC_STACK_COMPUTE__NAME: 'chaos',
      VC_STACK_COMPUTE__LISTEN: '127.0.0.1',
      VC_STACK_COMPUTE__ADDRESS: '127.0.0.1',
      VC_STACK_COMPUTE__PORT: String(await freePort()),
      VC_STACK_COMPUTE__TOKEN: token,
      VC_STACK_M2M__HEARTBEAT_MS: '1000',
      // Long verbs are answered "accepted": their tasks sleep and are woken, as with real guests.
      VC_STACK_M2M__ACCEPT_AFTER_MS: '1',
      VC_STACK_MODULES__COMPUTE__DRIVERS: '[simulated]',
      VC_STACK_MODULES__IMAGE__NODE_DRIVER: 'simulated',
      VC_STACK_MODULES__STORAGE__DRIVER: 'simulated',
      VC_STACK_MODULES__NETWORK__DRIVER: 'simulated',
    });
    await this.startAgent();
    await this.ready();
  }

  private async furnish(): Promise<void> {
    await this.query(beaconTable);
    const image = await this.api.ok('POST', '/images?project=default', { name: 'base', format: 'raw' });
    await this.api.ok('PUT', `/images/${image.id}/content`, bootable(0));
    await this.api.ok('POST', '/flavors', { name: 'small', vcpus: 1, memoryBytes: 64 * 1024 * 1024 });
    await this.api.ok('POST', '/flavors', { name: 'large', vcpus: 2, memoryBytes: 2 ** 27, diskBytes: 2 ** 30 });
    // What an instance of `small` can get while it runs.
    await this.api.ok('POST', '/flavors', { name: 'wide', vcpus: 3, memoryBytes: 192 * 1024 * 1024 });
    await this.api.ok('POST', '/networks?project=default', { name: 'net', subnet: '10.64.0.0/12' });
  }
}

/** A raw disk with a boot sector's signature; another `salt`, another digest. */
export const bootable = (salt: number): Buffer => {
  const bytes = Buffer.alloc(imageBytes);
  bytes.writeUInt16LE(0xaa55, 510);
  bytes.writeUInt32LE(salt, 1024);
  return bytes;
};
