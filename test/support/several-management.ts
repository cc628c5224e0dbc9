import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Child } from '../../bench/harness/child';
import { eventually } from './eventually';
import { startTestDatabase, type TestDatabase } from './postgres';
import { startTestRedis, type TestRedis } from './redis';
import { repositoryRoot } from './repository';
import { StackProcess } from './stack-process';
import { freePort } from './free-port';
import { ManagementProcess } from './management-process';

/**
 * Three management processes on one database, each with its state and ports, sharing what must be shared: the master
 * key and the images folder (a link here, a network file system in production). Simulated hosts report to the first one
 * until it does not answer.
 */
export class SeveralManagement {
  readonly directory = mkdtempSync('/tmp/vcs-several-');
  readonly processes: ManagementProcess[] = [];
  private hostsProcess: Child | undefined;
  private sharedRedis: TestRedis | undefined;
  private database: TestDatabase | undefined;

  static async start(options: {
    redis: boolean;
    hosts: number;
    env?: Record<string, string>;
  }): Promise<SeveralManagement> {
    const cloud = new SeveralManagement();
    try {
      cloud.database = await startTestDatabase();
      if (options.redis) cloud.sharedRedis = await startTestRedis();
      const key = randomBytes(32);
      mkdirSync(join(cloud.directory, 'images'));
      for (const name of ['m1', 'm2', 'm3']) cloud.processes.push(await cloud.prepare(name, key, options.env ?? {}));
      await Promise.all(cloud.processes.map((m) => m.process.start()));
      const password = cloud.adminPassword();
      for (const m of cloud.processes) await m.api.login('admin', password);
      await cloud.join(options.hosts);
      return cloud;
    } catch (error) {
      await cloud.close().catch(() => undefined);
      throw error;
    }
  }

  get db(): TestDatabase {
    if (!this.database) throw new Error('not started');
    return this.database;
  }

  get redis(): TestRedis {
    if (!this.sharedRedis) throw new Error('without Redis');
    return this.sharedRedis;
  }

  get hosts(): Child {
    if (!this.hostsProcess) throw new Error('no hosts');
    return this.hostsProcess;
  }

  at(index: number): ManagementProcess {
    const process = this.processes[index];
    if (!process) throw new Error(`no management process ${index}`);
    return process;
  }

  /** Whichever process came first made it. */
  adminPassword(): string {
    const file = ['m1', 'm2', 'm3']
      .map((name) => join(this.directory, name, 'state/management/admin-password'))
      .find(existsSync);
    return readFileSync(file ?? '', 'utf8').trim();
  }

  /** Certificate and key of one of the hosts, and its root. */
  hostIdentity(): { certificate: string; key: string; root: string } {
    return JSON.parse(readFileSync(join(this.directory, 'h/sim00/compute/identity/identity.json'), 'utf8')) as {
      certificate: string;
      key: string;
      root: string;
    };
  }

  /** Successful results in the journals of all hosts, by key. */
  journalled(): Map<string, Set<string>> {
    const found = new Map<string, Set<string>>();
    for (const host of readdirSync(join(this.directory, 'h'))) {
      for (const line of readFileSync(join(this.directory, 'h', host, 'compute/journal/journal.log'), 'utf8').split(
        '\n',
      )) {
        const json = line.slice(9);
        if (!json.startsWith('{"k":"r:')) continue;
        const { k, v } = JSON.parse(json) as { k: string; v: { result: { ok: boolean } } };
        if (v.result.ok) found.set(k.slice(2), (found.get(k.slice(2)) ?? new Set()).add(host));
      }
    }
    return found;
  }

  async close(): Promise<void> {
    await this.hostsProcess?.end('SIGKILL');
    await Promise.all(this.processes.map((m) => m.process.end()));
    for (const m of this.processes) await m.api.close();
    await this.sharedRedis?.stop();
    await this.database?.close();
    if (process.env['VC_STACK_TEST_KEEP'] === undefined) rmSync(this.directory, { recursive: true, force: true });
  }

  private async prepare(name: string, masterKey: Buffer, env: Record<string, string>): Promise<ManagementProcess> {
    const state = join(this.directory, name, 'state/management');
    mkdirSync(state, { recursive: true, mode: 0o700 });
    writeFileSync(join(state, 'master.key'), masterKey, { mode: 0o600 });
    symlinkSync(join(this.directory, 'images'), join(state, 'images'));
    const [port, nodePort] = [await freePort(), await freePort()];
    const process = new StackProcess({
      role: 'management',
      netns: null,
      directory: this.directory,
      name,
      env: {
        VC_STACK_STATE_DIR: join(this.directory, name, 'state'),
        VC_STACK_RUN_DIR: join(this.directory, name, 'run'),
        VC_STACK_DATABASE__URL: this.db.url,
        ...(this.sharedRedis && { VC_STACK_REDIS__URL: this.sharedRedis.url }),
        VC_STACK_MANAGEMENT__LISTEN: '127.0.0.1',
        VC_STACK_MANAGEMENT__ADDRESS: '127.0.0.1',
        VC_STACK_MANAGEMENT__PORT: String(port),
        VC_STACK_MANAGEMENT__NODE_PORT: String(nodePort),
        ...env,
      },
    });
    return new ManagementProcess(process, port, nodePort);
  }

  private async join(count: number): Promise<void> {
    const { api } = this.at(0);
    const tokens: string[] = [];
    for (let i = 0; i < count; i += 1) tokens.push((await api.ok('POST', '/host-tokens', {})).token);
    mkdirSync(join(this.directory, 'h'));
    this.hostsProcess = await Child.start(join(repositoryRoot, 'dist/bench/simulated-hosts.js'), [], {
      log: join(this.directory, 'hosts.log'),
      message: {
        directory: join(this.directory, 'h'),
        tokens,
        env: {
          VC_STACK_COMPUTE__MANAGEMENT: `[${this.processes.map((m) => `"127.0.0.1:${m.nodePort}"`).join(', ')}]`,
          VC_STACK_M2M__HEARTBEAT_MS: '1000',
        },
      },
    });
    await eventually(
      'the hosts to be ready',
      async () => {
        const { items } = await api.ok('GET', '/hosts');
        return items.length === count && items.every((host) => host.state === 'ready');
      },
      60_000,
    );
  }
}
