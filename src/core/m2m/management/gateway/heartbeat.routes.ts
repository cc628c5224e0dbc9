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
import { KnownSections } from '../../reports/known-sections';
import type { ObservedSink } from '../../reports/observed';
import { bodyOf, reportBody } from './node-body';

type Beat = z.infer<typeof heartbeatBody>;

/** A section that its sink understands. */
interface Taken {
  sink: ObservedSink;
  data: unknown;
}

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
    private readonly known: KnownSections,
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
      this.known.set(sink.section, sink.revision);
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
    return outcome === 'stale' ? {} : this.takeSections(hostId, body);
  }

  /**
   * Why some were not taken. All are taken in one transaction, for a host at work tells of several things at once; when
   * one of them cannot be stored, each gets its own: a bad one costs neither the others nor the sign of life.
   */
  private async takeSections(hostId: string, { sections, sectionRevisions }: Beat): Promise<Record<string, string>> {
    const refused: Record<string, string> = {};
    const taken: Taken[] = [];
    for (const [section, data] of Object.entries(sections)) {
      const one = this.read(hostId, section, data, sectionRevisions[section] ?? 1);
      if ('reason' in one) refused[section] = one.reason;
      else taken.push(one);
    }
    if (taken.length > 1) {
      try {
        await this.database.tx(async (op) => {
          for (const { sink, data } of taken) await sink.accept(op, hostId, data);
        });
        return refused;
      } catch (error) {
        this.log.debug({ hostId, err: error }, 'sections of a heartbeat are stored one by one');
      }
    }
    for (const { sink, data } of taken) {
      try {
        await this.database.tx((op) => sink.accept(op, hostId, data));
      } catch (error) {
        this.log.error({ hostId, section: sink.section, err: error }, 'a section of a heartbeat could not be stored');
        refused[sink.section] = 'failed';
      }
    }
    return refused;
  }

  private read(hostId: string, section: string, written: unknown, revision: number): Taken | { reason: string } {
    const sink = this.sinks.get(section);
    if (!sink) return { reason: 'unknown_section' };
    // What it meant before stands, and the host's condition says so.
    if (revision > sink.revision)
      return { reason: `newer_revision: written in revision ${revision}, read up to ${sink.revision}` };
    let data = written;
    for (let older = revision; older < sink.revision; older += 1) data = sink.older[older]?.(data) ?? data;
    const parsed = sink.schema.safeParse(data);
    if (parsed.success) return { sink, data: parsed.data };
    this.log.warn(
      { hostId, section, issues: parsed.error.issues.slice(0, 5) },
      'a section of a heartbeat is not valid',
    );
    const issues = parsed.error.issues.slice(0, 3).map((i) => `${i.path.join('.')}: ${i.message}`);
    return { reason: `invalid: ${issues.join('; ')}` };
  }
}
