import { injectable, multiInject, optional } from 'inversify';
import type { Logger } from 'pino';
import { buildVersion } from '../../../core/config/build-version';
import { ObservedReporter, ObservedSource } from '../../../core/m2m/reports/observed';
import { Logging } from '../../../core/telemetry/logging';
import type { Inventory } from '../contract/host.api';
import { HostCpus, InventorySource } from '../contract/host.ports';
import { type Machine, readMachine } from './machine-inventory';

/** What a host is changes seldom; free space is the exception and need not be to the second. */
const refreshMs = 60_000;

/**
 * The heartbeat's `inventory` section. Collecting may take long (VMMs are probed by booting a guest), so it goes on in
 * the background: heartbeats carry what is known, `complete: false` until every part answered once. A module whose part
 * changed calls `ObservedReporter.changed('inventory')`.
 */
@injectable()
export class HostInventorySource extends ObservedSource {
  readonly section = 'inventory';
  private readonly log: Logger;
  private readonly parts = new Map<InventorySource, unknown[]>();
  private machine: Machine | undefined;
  private collecting: Promise<void> | undefined;
  private collectedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly reporter: ObservedReporter,
    private readonly cpus: HostCpus,
    logging: Logging,
    @multiInject(InventorySource) @optional() private readonly sources: InventorySource[] = [],
  ) {
    super();
    this.log = logging.for('inventory');
  }

  async collect(): Promise<Inventory> {
    this.machine ??= await readMachine(await this.cpus.topology());
    if (performance.now() - this.collectedAt > refreshMs) this.refresh();
    return {
      ...this.machine,
      ...this.found(),
      agentVersion: buildVersion,
      complete: this.sources.every((source) => this.parts.has(source)),
    };
  }

  /** Has every part try again what failed before, and waits for what comes of it. */
  async test(): Promise<Record<string, unknown[]>> {
    await this.collecting;
    await Promise.all(this.sources.map((source) => source.retest()));
    this.refresh();
    await this.collecting;
    return this.found();
  }

  private found(): Record<string, unknown[]> {
    const parts: Record<string, unknown[]> = {};
    for (const source of this.sources) (parts[source.part] ??= []).push(...(this.parts.get(source) ?? []));
    return parts;
  }

  /** Collects all parts anew in the background and reports when something came out differently. */
  refresh(): void {
    this.collecting ??= this.gather().finally(() => {
      this.collecting = undefined;
    });
  }

  private async gather(): Promise<void> {
    this.collectedAt = performance.now();
    this.machine = await readMachine(await this.cpus.topology());
    await Promise.all(this.sources.map((source) => this.gatherPart(source)));
  }

  private async gatherPart(source: InventorySource): Promise<void> {
    let found: unknown[];
    try {
      const answer = await source.collect();
      found = Array.isArray(answer) ? answer : [answer];
    } catch (error) {
      this.log.warn({ part: source.part, err: error }, 'a part of the inventory could not be collected');
      found = this.parts.get(source) ?? [];
    }
    const before = this.parts.get(source);
    this.parts.set(source, found);
    if (before === undefined || JSON.stringify(before) !== JSON.stringify(found)) this.reporter.changed(this.section);
  }
}
