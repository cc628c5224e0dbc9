import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Config } from '../../../core/config/config';
import { ManagementAddresses } from '../../../core/m2m/node/management-addresses';
import { NodeIdentity } from '../../../core/m2m/node/node-identity';
import { VerbFailure } from '../../../core/m2m/verbs/verb-handler';
import { PeriodicWorks, type PeriodicWork } from '../../../core/periodic/periodic-work';
import { Logging } from '../../../core/telemetry/logging';
import type { FoundLeftover } from '../../host/contract/host.ports';
import type { NetworkConfig } from '../contract/network.config';
import type { ObservedNetwork } from '../contract/network.observed';
import type { HostNetworkDocument } from '../contract/host-document';
import type { NetworkApplyResult } from '../contract/network.verbs';
import { DocumentStore } from './document.store';
import { LinuxNetworkDriver } from './drivers/linux/linux-network.driver';
import type { NetworkDriver, PortOutcome, ServedNetwork } from './drivers/network-driver';
import { SimulatedNetworkDriver } from './drivers/simulated-network.driver';

/** Milliseconds to look again. */
const clearDeadline = 15_000;

interface Waiting {
  document: HostNetworkDocument;
  resolve: (result: NetworkApplyResult) => void;
  reject: (error: unknown) => void;
}

/** Told after every pass which networks are there, with the document that they come from. */
export type ConvergedListener = (served: ServedNetwork[], document: HostNetworkDocument) => void;

/**
 * Keeps this host at the newest document: one pass at a time, applies that queue up meanwhile are answered by one pass
 * for the newest of them, and a regular look repairs what drifted.
 */
@injectable()
export class NetworkAgent extends PeriodicWorks {
  private readonly log: Logger;
  private readonly driver: NetworkDriver;
  private readonly listeners: ConvergedListener[] = [];
  private readonly waiting: Waiting[] = [];
  private current: HostNetworkDocument | null = null;
  private outcomes: PortOutcome[] = [];
  private verifyWanted = false;
  private working: Promise<void> | undefined;
  /** Work that no pass may come between. */
  private apart: Promise<void> | undefined;
  private started: Promise<void> | undefined;
  private stopped = false;

  constructor(
    private readonly identity: NodeIdentity,
    private readonly addresses: ManagementAddresses,
    private readonly config: Config,
    private readonly store: DocumentStore,
    linux: LinuxNetworkDriver,
    simulated: SimulatedNetworkDriver,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('network');
    this.driver = this.section().driver === 'linux' ? linux : simulated;
  }

  override periodicWork(): PeriodicWork[] {
    const everyMs = this.section().reconcileSeconds * 1000;
    return [{ name: 'network.verify', everyMs, scope: 'process', deadlineMs: 300_000, run: () => this.verify() }];
  }

  onConverged(listener: ConvergedListener): void {
    this.listeners.push(listener);
  }

  /** Loads the last document and begins to converge to it; does not wait for that. */
  async start(): Promise<void> {
    this.current = await this.store.load();
    this.started = this.current ? this.verify() : Promise.resolve();
  }

  /** Finishes the running pass. What is there stays: guests go on without the agent. */
  async stop(): Promise<void> {
    this.stopped = true;
    for (const w of this.waiting.splice(0)) w.reject(new VerbFailure('stopping', 'The agent is stopping.', false));
    await this.working;
  }

  /**
   * Converges to the document and reports its ports; an older one than the current is answered with the current's
   * state.
   */
  apply(document: HostNetworkDocument): Promise<NetworkApplyResult> {
    if (this.stopped) return Promise.reject(new VerbFailure('stopping', 'The agent is stopping.', false));
    return new Promise((resolve, reject) => {
      this.waiting.push({ document, resolve, reject });
      void this.work();
    });
  }

  /** Compares the host with the current document and repairs. Resolves when that pass is over; failures are logged. */
  verify(): Promise<void> {
    if (this.stopped || !this.current) return Promise.resolve();
    this.verifyWanted = true;
    return this.work();
  }

  /** The document in force and where each of its ports is. Waits for the first pass after a start. */
  async locate(
    instanceId: string,
    portId: string,
  ): Promise<{ netns: string | null; tap: string; mac: string; mtu: number }> {
    await this.started;
    for (const network of this.current?.networks ?? []) {
      const port = network.ports.find((p) => p.id === portId && p.instanceId === instanceId);
      if (!port) continue;
      const outcome = this.outcomes.find((o) => o.id === portId);
      if (outcome?.state !== 'active')
        throw new VerbFailure(
          'port_not_active',
          `The port ${portId} is not active.`,
          false,
          {},
          { detail: outcome?.message || 'not applied yet' },
        );
      return {
        ...this.driver.locate(this.identity.current().hostId, instanceId, portId),
        mac: port.mac,
        mtu: network.mtu,
      };
    }
    throw new VerbFailure('port_not_applied', `This host has no port ${portId} of instance ${instanceId}.`, false);
  }

  /** Resolves when the first pass after a start is over. */
  async settled(): Promise<void> {
    await this.started;
  }

  /** For the heartbeat. */
  observed(): ObservedNetwork {
    const failed = this.outcomes.filter((o) => o.state === 'error').slice(0, 100);
    return {
      generation: this.current?.generation ?? -1,
      failed: failed.map(({ id, message }) => ({ id, message: message.slice(0, 1000) })),
      unknownMachines: this.driver.unknownMachines().slice(0, 20),
    };
  }

  /**
   * What is on the host and not of the document in force. Nothing converges while it is looked for, nor while one is
   * cleared, and then it is looked for again. Throws while the document's networks could not be planned.
   */
  async leftovers(signal: AbortSignal): Promise<FoundLeftover[]> {
    await this.started;
    const found = await this.alone(() => this.unplanned(signal));
    return found.map((one) => ({ ...one, clear: () => this.alone(() => this.clear(one)) }));
  }

  private async clear({ kind, name, mark }: FoundLeftover): Promise<void> {
    const now = (await this.unplanned(AbortSignal.timeout(clearDeadline))).find(
      (one) => one.kind === kind && one.name === name,
    );
    if (!now) return;
    if (now.mark !== mark)
      throw new VerbFailure('leftover_changed', `The ${kind} ${name} is another one by now.`, true);
    await now.clear();
  }

  private unplanned(signal: AbortSignal): Promise<FoundLeftover[]> {
    return this.driver.leftovers({ hostId: this.identity.current().hostId, document: this.current, signal });
  }

  private async alone<T>(work: () => Promise<T>): Promise<T> {
    while (this.working ?? this.apart) await (this.working ?? this.apart);
    const result = work();
    const over = result.then(
      () => undefined,
      () => undefined,
    );
    this.apart = over.finally(() => {
      this.apart = undefined;
    });
    return result;
  }

  private work(): Promise<void> {
    this.working ??= this.drain().finally(() => {
      this.working = undefined;
    });
    return this.working;
  }

  private async drain(): Promise<void> {
    // Callers of the same moment share the first pass.
    await (this.apart ?? Promise.resolve());
    while (this.waiting.length > 0 || this.verifyWanted) {
      const batch = this.waiting.splice(0);
      const verify = this.verifyWanted;
      this.verifyWanted = false;
      try {
        await this.once(batch, verify);
        const generation = this.current?.generation ?? 0;
        for (const w of batch)
          w.resolve({ generation, superseded: w.document.generation < generation, ports: this.outcomes });
      } catch (error) {
        this.log.error({ err: error }, 'the host did not converge');
        const failure = new VerbFailure(
          'network_failed',
          'The host could not set up its networks.',
          false,
          {},
          { cause: error, detail: error instanceof Error ? error.message : String(error) },
        );
        for (const w of batch) w.reject(failure);
      }
    }
  }

  private async once(batch: Waiting[], verify: boolean): Promise<void> {
    const known = this.current?.generation ?? -1;
    const newest = batch
      .map((w) => w.document)
      .reduce<HostNetworkDocument | null>((best, d) => (d.generation >= (best?.generation ?? known) ? d : best), null);
    if (newest) {
      // Recorded before it takes effect: a host that dies in between goes on from here.
      await this.store.save(newest);
      this.current = newest;
    }
    if (!this.current || (!newest && !verify)) return;
    const { hostId, management } = this.identity.current();
    const request = {
      hostId,
      document: this.current,
      management: this.addresses.all(management).map(({ address }) => address),
      verify,
    };
    this.outcomes = await this.driver.converge(request);
    for (const listener of this.listeners) listener(this.driver.served(request), this.current);
  }

  private section(): NetworkConfig {
    return this.config.section<NetworkConfig>('network');
  }
}
