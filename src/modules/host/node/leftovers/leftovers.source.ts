import { injectable } from 'inversify';
import { Config } from '../../../../core/config/config';
import { ObservedReporter, ObservedSource } from '../../../../core/m2m/reports/observed';
import type { HostConfig } from '../../contract/host.config';
import type { LeftoverListing } from '../../contract/leftover';
import { HostLeftovers } from './host-leftovers';

/** Of those that a heartbeat names; all can be asked for. */
const told = 50;

/**
 * The heartbeat's `leftovers` section: looked for when the agent starts and every now and then, beside the heartbeats.
 */
@injectable()
export class LeftoversSource extends ObservedSource {
  readonly section = 'leftovers';
  private readonly everyMs: number;
  private newest: LeftoverListing | null = null;
  private looking: Promise<void> | undefined;
  private lookedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly leftovers: HostLeftovers,
    private readonly reporter: ObservedReporter,
    config: Config,
  ) {
    super();
    this.everyMs = config.section<HostConfig>('host').leftoversEverySeconds * 1000;
  }

  override collect(): Promise<LeftoverListing | null> {
    if (performance.now() - this.lookedAt >= this.everyMs)
      this.looking ??= this.look().finally(() => {
        this.looking = undefined;
      });
    return Promise.resolve(this.newest);
  }

  /** Some were removed: what is told of them is not true any more. */
  lookAgain(): void {
    this.lookedAt = Number.NEGATIVE_INFINITY;
    this.reporter.changed(this.section);
  }

  private async look(): Promise<void> {
    this.lookedAt = performance.now();
    const { leftovers, truncated, ...rest } = await this.leftovers.list();
    this.newest = { ...rest, leftovers: leftovers.slice(0, told), truncated: truncated || leftovers.length > told };
    this.reporter.changed(this.section);
  }
}
