import { hostname } from 'node:os';
import { injectable } from 'inversify';
import { Config } from '../../config/config';
import type { StreamHandlers } from '../management/node-route';
import type { ObservedSource } from '../reports/observed';
import type { AnyVerb } from '../verbs/verb';
import type { VerbHandlers } from '../verbs/verb-handler';
import { PeriodicWorks, type PeriodicWork } from '../../periodic/periodic-work';
import { EventSender } from './event-sender';
import { HeartbeatService } from './heartbeat.service';
import { HttpsManagementClient } from './https-management-client';
import { NodeIdentity } from './node-identity';
import { NodeServer } from './node-server';
import { RevisionsSource } from './revisions.source';

export interface NodeParts {
  verbs: VerbHandlers[];
  streams: StreamHandlers[];
  observed: ObservedSource[];
  /** Verbs that must have a handler. */
  contract?: readonly AnyVerb[];
}

/** The node half's frame: joins the installation, serves management, reports itself, renews its certificate. */
@injectable()
export class NodeAgent extends PeriodicWorks {
  private readonly stopping = new AbortController();
  private port = 0;

  constructor(
    private readonly identity: NodeIdentity,
    private readonly server: NodeServer,
    private readonly heartbeat: HeartbeatService,
    private readonly events: EventSender,
    private readonly client: HttpsManagementClient,
    private readonly revisions: RevisionsSource,
    private readonly config: Config,
  ) {
    super();
  }

  /** Once, before `start`. */
  register(parts: NodeParts): void {
    this.server.register(parts.verbs, parts.streams, parts.contract);
    this.revisions.register(this.server.verbRevisions(), parts.observed);
    this.heartbeat.register([this.revisions, ...parts.observed]);
  }

  /** Once it serves. A certificate that could not be renewed is tried again before long. */
  override periodicWork(): PeriodicWork[] {
    return [
      {
        name: 'm2m.renew-certificate',
        everyMs: 3_600_000,
        scope: 'process',
        deadlineMs: 120_000,
        atStart: true,
        run: () => this.identity.renewIfDue((path, body) => this.client.post(path, body)),
      },
      {
        name: 'm2m.keep-journal',
        everyMs: 60_000,
        scope: 'process',
        deadlineMs: 120_000,
        run: () => this.server.tidyJournal(),
      },
    ];
  }

  /** The bound port, after `join`. */
  get boundPort(): number {
    return this.port;
  }

  /**
   * Binds the port and makes sure that this host has an identity (enrolling with `token`, else the configured one).
   * Throws `EnrolmentError` when it cannot have one. Returns the host's id. Services of modules start between `join`
   * and `serve`.
   */
  async join(token: string = this.config.core.compute.token): Promise<string> {
    this.port = await this.server.listen();
    const { name, address } = this.config.core.compute;
    const identity = await this.identity.ensure(
      token,
      { name: name || hostname(), address, port: this.port },
      this.stopping.signal,
    );
    return identity.hostId;
  }

  /** Lets management in and starts reporting. */
  async serve(): Promise<void> {
    this.server.useIdentity();
    await this.events.start();
    const { localAddress } = this.identity.current();
    this.heartbeat.start({ address: this.config.core.compute.address || localAddress, port: this.port });
  }

  /** Undoes `serve`: no heartbeat and no verb from here on, running verbs end. Services of modules stop after it. */
  async pause(): Promise<void> {
    this.stopping.abort();
    await this.heartbeat.stop();
    await this.server.stop();
  }

  /** Undoes `join`, and `serve` if that was not done yet. Running VMs go on. */
  async stop(): Promise<void> {
    await this.pause();
    await this.events.stop();
    await this.client.close();
  }
}
