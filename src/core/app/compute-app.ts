import { join } from 'node:path';
import type { Container } from 'inversify';
import type { Config } from '../config/config';
import { StatePaths } from '../config/state-paths';
import { bindNodeTransport } from '../m2m/node/node.bindings';
import { NodeIdentity } from '../m2m/node/node-identity';
import { NodeAgent } from '../m2m/node/node-agent';
import { Periodic } from '../periodic/periodic.service';
import { Logging } from '../telemetry/logging';
import { getAll, load, roleContainer } from './container';
import { verbsOf } from './declarations';
import { Lifecycle } from '../lifecycle/lifecycle';
import type { ModuleManifest, NodeWiring } from './module-manifest';
import { sortModules } from './module-registry';

/** The compute role: no database, a journal of its own, and guests that outlive it. */
export class ComputeApp {
  private readonly lifecycle: Lifecycle;

  constructor(
    private readonly config: Config,
    private readonly logging: Logging,
    private readonly manifests: readonly ModuleManifest[],
  ) {
    this.lifecycle = new Lifecycle(logging.for('app'));
  }

  /** @param token enrols with this token instead of the configured one; not read once the host has its certificate */
  async start(token?: string): Promise<void> {
    const { container, all } = await this.assemble();
    const agent = container.get(NodeAgent);
    container.get(Periodic).register([
      agent,
      ...getAll(
        container,
        all((w) => w.periodic),
      ),
    ]);
    agent.register({
      verbs: getAll(
        container,
        all((w) => w.verbs),
      ),
      streams: getAll(
        container,
        all((w) => w.streams),
      ),
      observed: getAll(
        container,
        all((w) => w.observed),
      ),
      contract: Object.values(await verbsOf(this.manifests)),
    });
    await this.lifecycle.run(
      'agent',
      () => agent.join(token),
      () => agent.stop(),
    );
    for (const service of all((w) => w.services))
      await this.lifecycle.run(
        service.name,
        () => container.get(service).start(),
        () => container.get(service).stop(),
      );
    await this.lifecycle.run(
      'serve',
      () => agent.serve(),
      () => agent.pause(),
    );
    const periodic = container.get(Periodic);
    await this.lifecycle.run(
      'periodic work',
      () => periodic.start(),
      () => periodic.stop(),
    );
  }

  /**
   * Instead of `start`: takes guests, networks and everything else of this host's agent off the machine. Its files are
   * the caller's to remove.
   */
  async purge(): Promise<void> {
    const { container, all } = await this.assemble();
    const { name, address } = this.config.core.compute;
    await container.get(NodeIdentity).ensure('', { name, address, port: 0 });
    for (const removal of getAll(
      container,
      all((w) => w.removals),
    ).reverse())
      await removal.removeAll();
  }

  async stop(): Promise<void> {
    await this.lifecycle.stop();
  }

  private async assemble(): Promise<{
    container: Container;
    all: <T>(pick: (wiring: NodeWiring) => readonly T[] | undefined) => T[];
  }> {
    const modules = sortModules(this.manifests);
    const wirings = (await Promise.all(modules.map((m) => m.node?.()))).filter((w): w is NodeWiring => w !== undefined);
    const paths = new StatePaths(join(this.config.core.stateDir, 'compute'), join(this.config.core.runDir, 'c'));
    const container = roleContainer(this.config, this.logging, paths);
    load(container, bindNodeTransport, ...wirings.map((w) => w.bind));
    return { container, all: (pick) => wirings.flatMap((w) => pick(w) ?? []) };
  }
}
