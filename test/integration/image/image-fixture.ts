import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Container, ContainerModule } from 'inversify';
import { Agent, request } from 'undici';
import { Config } from '../../../src/core/config/config';
import { StatePaths } from '../../../src/core/config/state-paths';
import { coreConfigSchema } from '../../../src/core/config/core-config';
import { Database } from '../../../src/core/db/database';
import type { Op } from '../../../src/core/db/rows/op';
import { HttpServer } from '../../../src/core/http/server/http-server';
import { NodeCaller } from '../../../src/core/m2m/management/node-caller';
import { bindWorkflow } from '../../../src/core/workflow/workflow.bindings';
import type { WorkflowDefinition } from '../../../src/core/workflow/definition/definition';
import { WorkflowEngine } from '../../../src/core/workflow/engine/workflow-engine';
import { Hosts, type SchedulableHost } from '../../../src/modules/host/contract/host.ports';
import { Projects } from '../../../src/modules/identity/contract/identity.ports';
import { imageConfigSchema } from '../../../src/modules/image/contract/image.config';
import type { Image } from '../../../src/modules/image/contract/image.api';
import { ImageController } from '../../../src/modules/image/management/images/image.controller';
import { ImageSweeper } from '../../../src/modules/image/management/images/image-sweeper.service';
import { imageWiring } from '../../../src/modules/image/management/image.wiring';
import { ImportImageWorkflow } from '../../../src/modules/image/management/workflows/import-image.workflow';
import { storageConfigSchema } from '../../../src/modules/storage/contract/storage.config';
import { schedulerWiring } from '../../../src/modules/scheduler/management/scheduler.wiring';
import { InstanceHosts } from '../../../src/modules/storage/contract/storage.ports';
import { storageWiring } from '../../../src/modules/storage/management/storage.wiring';
import { VolumeController } from '../../../src/modules/storage/management/volume.controller';
import { coreContainer, testTls } from '../../support/http';
import { WorkflowProbe } from '../../../src/core/workflow/run/workflow-probe';
import { compileScripts } from '../../support/compile-scripts';
import { FakeNodes } from '../../support/fake-nodes';

class AnyProjects extends Projects {
  override async hold(): Promise<void> {
    await Promise.resolve();
  }
  override async names(): Promise<Map<string, string>> {
    return new Map();
  }
}

class NamedHosts extends Hosts {
  override async byId(): Promise<undefined> {
    return undefined;
  }
  override async all(): Promise<SchedulableHost[]> {
    return [];
  }
  override async names(_op: Op, ids: string[]): Promise<Map<string, string>> {
    return new Map(ids.map((id) => [id, `host-${id.slice(0, 4)}`]));
  }
}

export interface Answer<T = Image & { code: string; detail: string }> {
  status: number;
  body: T;
}

export interface ImageFixtureOptions {
  stateDir?: string;
  image?: Record<string, unknown>;
  probe?: WorkflowProbe;
}

class NoInstances extends InstanceHosts {
  override hostOf(): Promise<string> {
    return Promise.reject(new Error('there are no instances here'));
  }

  override nameOf(): Promise<string> {
    return Promise.resolve('');
  }
}

/**
 * The management halves of image and storage behind a real HTTP server, with the real engine; identity, hosts and nodes
 * are stand-ins.
 */
export class ImageFixture {
  private readonly agent = new Agent({ connect: { rejectUnauthorized: false } });

  private constructor(
    readonly container: Container,
    readonly stateDir: string,
    private readonly ownsDir: boolean,
    readonly logs: Record<string, unknown>[],
  ) {}

  static async start(database: Database, options: ImageFixtureOptions = {}): Promise<ImageFixture> {
    compileScripts();
    const { container, logs } = coreContainer(database);
    const stateDir = options.stateDir ?? mkdtempSync(join(tmpdir(), 'vc-image-'));
    const core = coreConfigSchema.parse({ management: { listen: '127.0.0.1', port: 0 } });
    await container.unbind(Config);
    container.bind(Config).toConstantValue(
      new Config(core, {
        image: imageConfigSchema.parse(options.image ?? {}),
        storage: storageConfigSchema.parse({}),
      }),
    );
    container.bind(StatePaths).toConstantValue(new StatePaths(stateDir, join(stateDir, 'run')));
    container.bind(NodeCaller).toConstantValue(new FakeNodes());
    container.bind(WorkflowProbe).toConstantValue(options.probe ?? new WorkflowProbe());
    container.bind(Projects).toConstantValue(new AnyProjects());
    container.bind(Hosts).toConstantValue(new NamedHosts());
    container.bind(InstanceHosts).toConstantValue(new NoInstances());
    container.load(
      new ContainerModule(bindWorkflow),
      new ContainerModule(imageWiring.bind),
      new ContainerModule(schedulerWiring.bind),
      new ContainerModule(storageWiring.bind),
    );
    const fixture = new ImageFixture(container, stateDir, options.stateDir === undefined, logs);
    await fixture.listen();
    return fixture;
  }

  private async listen(): Promise<void> {
    const engine = this.container.get(WorkflowEngine);
    engine.register([this.container.get(ImportImageWorkflow).definition as unknown as WorkflowDefinition]);
    const http = this.container.get(HttpServer);
    http.mount([this.container.get(ImageController), this.container.get(VolumeController)]);
    await this.container.get(ImageSweeper).start();
    await engine.start();
    await http.start(testTls());
  }

  async stop(): Promise<void> {
    await this.container.get(HttpServer).stop();
    await this.container.get(WorkflowEngine).stop();
    await this.container.get(ImageSweeper).stop();
    await this.agent.destroy();
    if (this.ownsDir) rmSync(this.stateDir, { recursive: true, force: true });
  }

  async api<T = Image & { code: string; detail: string }>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
    as = 'alice',
  ): Promise<Answer<T>> {
    return this.send(
      method,
      path,
      body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
      as,
    );
  }

  /** PUT of raw bytes. `headers` may lie about the length. */
  async upload(
    id: string,
    bytes: Buffer | Readable,
    headers: Record<string, string> = {},
    as = 'alice',
    part: 'content' | 'kernel' | 'initramfs' = 'content',
  ): Promise<Answer> {
    return this.send(
      'PUT',
      `/images/${id}/${part}`,
      { body: bytes, headers: { 'content-type': 'application/octet-stream', ...headers } },
      as,
    );
  }

  async create(input: Record<string, unknown>, as = 'alice'): Promise<Image> {
    const { status, body } = await this.api('POST', '/images?project=alpha', input, as);
    if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body;
  }

  async image(id: string): Promise<Image> {
    return (await this.api('GET', `/images/${id}`)).body;
  }

  /** Every file of the image store, `incoming/` included. */
  files(): string[] {
    return readdirSync(join(this.stateDir, 'images'), { recursive: true, withFileTypes: true })
      .filter((f) => f.isFile())
      .map((f) => f.name);
  }

  stored(sha256: string | null): string {
    return join(this.stateDir, 'images', `${sha256}.raw`);
  }

  private async send<T>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    init: { body: string | Buffer | Readable; headers: Record<string, string> } | undefined,
    as: string,
  ): Promise<Answer<T>> {
    const response = await request(`${this.container.get(HttpServer).address}/api/v1${path}`, {
      method,
      dispatcher: this.agent,
      ...init,
      headers: { ...init?.headers, authorization: `Bearer ${as}` },
    });
    const text = await response.body.text();
    return { status: response.statusCode, body: (text === '' ? undefined : JSON.parse(text)) as T };
  }
}
