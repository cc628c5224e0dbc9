import 'reflect-metadata';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManagementApp } from '../../src/core/app/management-app';
import { configSchemasOf } from '../../src/core/app/declarations';
import { loadConfig } from '../../src/core/config/config-loader';
import { createLogger } from '../../src/core/telemetry/create-logger';
import { Logging } from '../../src/core/telemetry/logging';
import { allModules } from '../../src/modules/all-modules';
import { ApiClient } from '../support/api-client';
import { compileScripts } from '../support/compile-scripts';
import { freePort } from '../support/free-port';
import { startTestDatabase, type TestDatabase } from '../support/postgres';

/**
 * The management role as it is shipped, all modules and nothing replaced, in this process, on a database of its own.
 */
export class ManagementStack {
  readonly logs: string[] = [];
  readonly admin: ApiClient;
  private readonly clients: ApiClient[] = [];

  private constructor(
    readonly db: TestDatabase,
    readonly app: ManagementApp,
    readonly directory: string,
    readonly nodePort: number,
    logs: string[],
    private readonly beside: boolean,
  ) {
    this.logs = logs;
    this.admin = this.client();
  }

  /**
   * @param env further configuration, as variables: `VC_STACK_...`
   * @param other a further management process on the database of this one, which must outlive it
   * @param modules others than the product's
   */
  static async start(
    env: Record<string, string> = {},
    other?: ManagementStack,
    modules = allModules,
  ): Promise<ManagementStack> {
    compileScripts();
    const db = other?.db ?? (await startTestDatabase());
    const directory = mkdtempSync(join(tmpdir(), 'vcs-security-'));
    const own = join('state', 'management');
    if (other) {
      mkdirSync(join(directory, own), { recursive: true, mode: 0o700 });
      for (const shared of ['master.key', 'admin-password'])
        cpSync(join(other.directory, own, shared), join(directory, own, shared));
    }
    const nodePort = await freePort();
    const config = await loadConfig({
      env: {
        VC_STACK_STATE_DIR: join(directory, 'state'),
        VC_STACK_RUN_DIR: join(directory, 'run'),
        VC_STACK_DATABASE__URL: db.url,
        VC_STACK_MANAGEMENT__LISTEN: '127.0.0.1',
        VC_STACK_MANAGEMENT__ADDRESS: '127.0.0.1',
        VC_STACK_MANAGEMENT__PORT: String(await freePort()),
        VC_STACK_MANAGEMENT__NODE_PORT: String(nodePort),
        ...env,
      },
      modules: await configSchemasOf(modules),
    });
    const logs: string[] = [];
    const logging = new Logging(createLogger(config, { write: (line: string) => void logs.push(line) }));
    const app = new ManagementApp(config, logging, modules, { migrate: true });
    await app.start();
    const stack = new ManagementStack(db, app, directory, nodePort, logs, other !== undefined);
    await stack.admin.login('admin', stack.adminPassword);
    return stack;
  }

  get url(): string {
    return this.app.url;
  }

  get adminPassword(): string {
    return readFileSync(join(this.directory, 'state', 'management', 'admin-password'), 'utf8').trim();
  }

  /** A client with this credential, or none; from an address of its own where attempts are counted by address. */
  client(token = '', localAddress?: string): ApiClient {
    const client = new ApiClient(this.app.url, true, localAddress);
    client.token = token;
    this.clients.push(client);
    return client;
  }

  /** A new user with a session. */
  async user(
    name: string,
    memberships: Record<string, 'project-admin' | 'member' | 'viewer'> = {},
    admin = false,
  ): Promise<ApiClient> {
    const password = passwordOf(name);
    await this.admin.ok('POST', '/users', { name, password, admin });
    for (const [project, role] of Object.entries(memberships))
      await this.admin.ok('PUT', `/projects/${project}/members/${name}`, { role });
    const client = this.client();
    await client.login(name, password);
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.clients) await client.close();
    await this.app.stop();
    if (!this.beside) await this.db.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Of the users that `ManagementStack.user` makes. */
export const passwordOf = (name: string): string => `the password of ${name}`;
