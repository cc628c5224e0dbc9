import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TaskDetail } from '../../src/modules/task/contract/task.api';
import { ApiClient } from '../../test/support/api-client';
import { repositoryRoot } from '../../test/support/repository';
import { Child } from './child';
import { freePort } from '../../test/support/free-port';
import type { Lab } from './lab';

const imageBytes = 1024 * 1024;

/**
 * One `vc-stack management` process on a database of the bench's server, logged in as admin, and simulated hosts in a
 * process of their own.
 */
export class ControlPlane {
  private constructor(
    private readonly lab: Lab,
    readonly api: ApiClient,
    readonly management: Child,
    readonly databaseUrl: string,
  ) {}

  static async start(lab: Lab, name: string, env: Record<string, string> = {}): Promise<ControlPlane> {
    const databaseUrl = await lab.postgres.database(name);
    const state = join(lab.directory, 'm');
    mkdirSync(state);
    const port = await freePort();
    const management = await Child.start(join(repositoryRoot, 'dist/src/main.js'), ['management', '--migrate'], {
      log: join(lab.directory, 'management.log'),
      env: {
        VC_STACK_STATE_DIR: state,
        VC_STACK_RUN_DIR: join(state, 'r'),
        VC_STACK_LOG__LEVEL: 'warn',
        VC_STACK_DATABASE__URL: databaseUrl,
        VC_STACK_MANAGEMENT__LISTEN: '127.0.0.1',
        VC_STACK_MANAGEMENT__ADDRESS: '127.0.0.1',
        VC_STACK_MANAGEMENT__PORT: String(port),
        VC_STACK_MANAGEMENT__NODE_PORT: '0',
        ...env,
      },
    });
    lab.defer(() => management.end());
    const api = new ApiClient(`https://127.0.0.1:${port}`, true);
    lab.defer(() => api.close());
    await api.login('admin', readFileSync(join(state, 'management', 'admin-password'), 'utf8').trim());
    return new ControlPlane(lab, api, management, databaseUrl);
  }

  /**
   * Simulated hosts join, each with its own token; resolves with their process when all are `ready`.
   *
   * @param env of that process
   */
  async addHosts(count: number, env: Record<string, string> = {}): Promise<Child> {
    const tokens: string[] = [];
    for (let i = 0; i < count; i += 1) tokens.push((await this.api.ok('POST', '/host-tokens', {})).token);
    const child = await Child.start(join(repositoryRoot, 'dist/bench/simulated-hosts.js'), [], {
      log: join(this.lab.directory, 'hosts.log'),
      env,
      message: { directory: join(this.lab.directory, 'h'), tokens },
    });
    this.lab.defer(() => child.end());
    const end = Date.now() + 60_000;
    for (;;) {
      const { items } = await this.api.ok('GET', '/hosts?limit=100');
      const others = items.filter((host) => host.state !== 'ready');
      if (items.length === count && others.length === 0) return child;
      if (Date.now() > end)
        throw new Error(`hosts did not become ready: ${JSON.stringify(others.slice(0, 3))}\n${child.tail()}`);
      await delay(200);
    }
  }

  /** The flavor, image and network that creates name. */
  async furnish(): Promise<void> {
    const image = await this.api.ok('POST', '/images?project=default', {
      name: 'bench',
      format: 'raw',
    });
    const bytes = Buffer.alloc(imageBytes);
    bytes.writeUInt16LE(0xaa55, 510);
    await this.api.ok('PUT', `/images/${image.id}/content`, bytes);
    await this.api.ok('POST', '/flavors', { name: 'bench', vcpus: 1, memoryBytes: 64 * 1024 * 1024 });
    await this.api.ok('POST', '/networks?project=default', { name: 'bench', subnet: '10.64.0.0/12' });
  }

  /** From the request to `running` as its host observed it. Throws when it does not get there. */
  async create(name: string): Promise<string> {
    const { instance, taskId } = await this.api.ok('POST', '/instances?project=default', {
      name,
      flavor: 'bench',
      image: 'bench',
      networks: [{ network: 'bench' }],
    });
    await this.settled(taskId);
    return instance.id;
  }

  async remove(id: string): Promise<void> {
    const { taskId } = await this.api.ok('DELETE', `/instances/${id}?project=default`);
    await this.settled(taskId);
  }

  /** The task, which has succeeded. */
  async settled(taskId: string): Promise<TaskDetail> {
    const task = await this.api.ok('GET', `/tasks/${taskId}?wait=30s`);
    if (task.state !== 'succeeded') throw new Error(`task ${taskId} is ${task.state}: ${JSON.stringify(task.error)}`);
    return task;
  }
}
