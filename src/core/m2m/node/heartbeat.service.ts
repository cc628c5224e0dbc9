import { randomUUID } from 'node:crypto';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { buildVersion } from '../../config/build-version';
import { Config } from '../../config/config';
import { Logging } from '../../telemetry/logging';
import { heartbeatAnswer } from '../reports/heartbeat';
import type { NodeEndpoint } from '../management/node-registry';
import { ObservedReporter, type ObservedSource } from '../reports/observed';
import { HttpsManagementClient } from './https-management-client';
import { NodeIdentity } from './node-identity';

/** Changes within this time go out together. */
const coalesceMs = 50;
const firstRetryMs = 250;

/**
 * Reports this host to management: every 5 s, and at once when something changed. Only what changed since management
 * last took it is sent, everything after a break. That management is away is normal: only the newest state is kept, and
 * tried again with growing pauses.
 */
@injectable()
export class HeartbeatService extends ObservedReporter {
  private readonly boot = randomUUID();
  private readonly log: Logger;
  private readonly intervalMs: number;
  private readonly sources = new Map<string, ObservedSource>();
  /** What management has, as JSON by section. */
  private readonly taken = new Map<string, string>();
  private readonly dirty = new Set<string>();
  private endpoint: NodeEndpoint | undefined;
  private timer: NodeJS.Timeout | undefined;
  private dueAt = 0;
  private seq = 0;
  private failures = 0;
  private beating: Promise<void> | undefined;
  private stopped = true;

  constructor(
    private readonly client: HttpsManagementClient,
    private readonly identity: NodeIdentity,
    config: Config,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('heartbeat');
    this.intervalMs = config.core.m2m.heartbeatMs;
  }

  /** Before `start`. Throws when two sources report the same section. */
  register(sources: ObservedSource[]): void {
    for (const source of sources) {
      if (this.sources.has(source.section)) throw new Error(`the section "${source.section}" has two sources`);
      this.sources.set(source.section, source);
    }
  }

  /** Sends the first heartbeat at once. @param endpoint where management reaches this agent */
  start(endpoint: NodeEndpoint): void {
    this.endpoint = endpoint;
    this.stopped = false;
    this.schedule(0);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.beating;
  }

  changed(section: string): void {
    this.dirty.add(section);
    // While management is away the pauses hold; everything is sent once it is back.
    if (!this.stopped && this.failures === 0 && !this.beating) this.schedule(coalesceMs);
  }

  private schedule(ms: number): void {
    const at = performance.now() + ms;
    if (this.timer && this.dueAt <= at) return;
    clearTimeout(this.timer);
    this.dueAt = at;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.beating = this.beat().finally(() => {
        this.beating = undefined;
        if (!this.stopped) this.schedule(this.nextPause());
      });
    }, ms);
  }

  private nextPause(): number {
    if (this.failures === 0) return this.dirty.size > 0 ? coalesceMs : this.intervalMs;
    const longest = Math.max(this.intervalMs, firstRetryMs);
    return Math.min(longest, firstRetryMs * 2 ** Math.min(this.failures - 1, 10)) * (0.5 + Math.random() / 2);
  }

  /** Never rejects. */
  private async beat(): Promise<void> {
    if (!this.endpoint) return;
    this.dirty.clear();
    const changed = new Map<string, unknown>();
    const texts = new Map<string, string>();
    await Promise.all(
      [...this.sources.values()].map(async (source) => {
        try {
          const data = await source.collect();
          const text = JSON.stringify(data);
          if (text === undefined || text === this.taken.get(source.section)) return;
          changed.set(source.section, data);
          texts.set(source.section, text);
        } catch (error) {
          this.log.warn({ section: source.section, err: error }, 'a section could not be collected');
        }
      }),
    );
    // In the order of the sources: what the agent understands comes before what it reports.
    const sections = Object.fromEntries(
      [...this.sources.keys()].flatMap((name) => (changed.has(name) ? [[name, changed.get(name)]] : [])),
    );
    const sectionRevisions = Object.fromEntries(
      Object.keys(sections).flatMap((name) => {
        const revision = this.sources.get(name)?.revision ?? 1;
        return revision > 1 ? [[name, revision]] : [];
      }),
    );
    this.seq += 1;
    const body = {
      hostId: this.identity.current().hostId,
      boot: this.boot,
      seq: this.seq,
      time: Date.now(),
      endpoint: this.endpoint,
      agentVersion: buildVersion,
      sections,
      sectionRevisions,
    };
    try {
      const answer = heartbeatAnswer.parse(await this.client.post('/heartbeat', body));
      if (this.failures > 0) this.log.info('management is back');
      this.failures = 0;
      for (const [section, text] of texts) this.taken.set(section, text);
      for (const [section, reason] of Object.entries(answer.refused)) {
        this.log.error({ section, reason }, 'management refused a section');
        if (reason === 'failed') this.taken.delete(section);
      }
    } catch (error) {
      this.failures += 1;
      // What a failed attempt brought over is unknown: everything goes again.
      this.taken.clear();
      const level = this.failures === 1 ? 'warn' : 'debug';
      this.log[level]({ err: error }, 'management does not take the heartbeat; going on without it');
    }
  }
}
