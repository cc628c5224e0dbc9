import { injectable } from 'inversify';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { Database } from '../../../db/database';
import { Problem } from '../../../errors/problem';
import { Logging } from '../../../telemetry/logging';
import { heartbeatBody } from '../../reports/heartbeat';
import { sendJson } from '../../json-body';
import { NodeRegistry } from '../node-registry';
import { NodeRoutes, type NodeRoute } from '../node-route';
import type { ObservedSink } from '../../reports/observed';
import { bodyOf, reportBody } from './node-body';

type Beat = z.infer<typeof heartbeatBody>;

/** Signs of life of hosts, and the sections that they carry to whoever takes them. */
@injectable()
export class HeartbeatRoutes extends NodeRoutes {
  private readonly log: Logger;
  private readonly sinks = new Map<string, ObservedSink>();
  /** The heartbeat at work per host: the next one waits, so sections are taken in the order they were sent. */
  private readonly beating = new Map<string, Promise<unknown>>();

  constructor(
    private readonly registry: NodeRegistry,
    private readonly database: Database,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('heartbeat');
  }

  /** Throws when a section has two sinks. */
  register(sinks: readonly ObservedSink[]): void {
    for (const sink of sinks) {
      if (this.sinks.has(sink.section)) throw new Error(`the section "${sink.section}" has two sinks`);
      this.sinks.set(sink.section, sink);
    }
  }

  override nodeRoutes(): NodeRoute[] {
    return [
      {
        method: 'POST',
        path: '/heartbeat',
        handle: async ({ hostId, raw, res }) =>
          sendJson(res, 200, await this.heartbeat(hostId, await bodyOf(raw, heartbeatBody, reportBody))),
      },
    ];
  }

  /** Resolves when no heartbeat is at work any more. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.beating.values());
  }

  private async heartbeat(hostId: string, body: Beat): Promise<{ refused: Record<string, string> }> {
    if (body.hostId !== hostId)
      throw new Problem({
        status: 403,
        code: 'wrong_identity',
        detail: 'The heartbeat is of another host than the certificate.',
      });
    const before = this.beating.get(hostId) ?? Promise.resolve();
    const work = before.then(
      () => this.takeBeat(hostId, body),
      () => this.takeBeat(hostId, body),
    );
    this.beating.set(hostId, work);
    try {
      return { refused: await work };
    } finally {
      if (this.beating.get(hostId) === work) this.beating.delete(hostId);
    }
  }

  private async takeBeat(hostId: string, body: Beat): Promise<Record<string, string>> {
    const { boot, seq, time, endpoint, agentVersion } = body;
    const outcome = await this.registry.heartbeat(hostId, { boot, seq, time, endpoint, agentVersion });
    if (outcome === 'unknown')
      throw new Problem({ status: 404, code: 'unknown_host', detail: 'This host was removed.' });
    const refused: Record<string, string> = {};
    if (outcome === 'stale') return refused;
    for (const [section, data] of Object.entries(body.sections)) {
      const reason = await this.takeSection(hostId, section, data);
      if (reason !== undefined) refused[section] = reason;
    }
    return refused;
  }

  /**
   * Why it was not taken. Each section has its own transaction: a bad one costs neither the others nor the sign of
   * life.
   */
  private async takeSection(hostId: string, section: string, data: unknown): Promise<string | undefined> {
    const sink = this.sinks.get(section);
    if (!sink) return 'unknown_section';
    const parsed = sink.schema.safeParse(data);
    if (!parsed.success) {
      this.log.warn(
        { hostId, section, issues: parsed.error.issues.slice(0, 5) },
        'a section of a heartbeat is not valid',
      );
      return `invalid: ${parsed.error.issues
        .slice(0, 3)
        .map((i) => `${i.path.join('.')}: ${i.message}`)
        .join('; ')}`;
    }
    try {
      await this.database.tx((op) => sink.accept(op, hostId, parsed.data));
      return undefined;
    } catch (error) {
      this.log.error({ hostId, section, err: error }, 'a section of a heartbeat could not be stored');
      return 'failed';
    }
  }
}
